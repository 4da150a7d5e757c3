/** Commands that show records of builds: runs, metrics and times. */
import { command, type Declared } from './command.js';
import { flag, optional, repeated, value } from './option.js';
import { file, json, PIPELINE } from './shared-options.js';
import { parseCount, parseText } from './values.js';

export const RECORDS: readonly Declared[] = [
  command({
    words: 'history [stages...]',
    description: 'list the builds that changed a result; for named stages their outcomes, durations and metrics',
    options: {
      file,
      json,
      last: value('-n, --last <n>', 'number of builds to list, newest first', parseCount, { value: 20, shown: '20' }),
      columns: repeated('--columns <metrics>', 'figures to list, separated by commas: evaluate-int8.bbox.AP', parseText),
    },
    after:
      'Examples:\n  tanren history\n  tanren history -n 5 --columns evaluate-int8.bbox.AP,total.npuMacShare\n  tanren history evaluate-int8',
    run: async (stages, options) => (await import('../commands/history/history.js')).runHistory(stages, options),
  }),
  command({
    words: 'metrics [targets...]',
    description: 'show the metrics of the current results, and whether the gates are met',
    options: { ...PIPELINE, json, save: optional('--save <name>', 'save them in baselines/NAME.json, for tanren diff NAME', parseText) },
    run: async (targets, options) => (await import('../commands/history/metrics.js')).runMetrics(targets, options),
  }),
  command({
    words: 'diff [what...]',
    description: 'compare params, metrics and gates with a run, a baseline or a Git revision; further arguments name stages (default: all)',
    options: { ...PIPELINE, json, all: flag('--all', 'also list what did not change') },
    after:
      'Examples:\n  tanren diff                    with the run before\n  tanren diff r41 evaluate       with run 41; only the stage evaluate\n  tanren diff main               with a branch, tag or commit\n  tanren diff float              with baselines/float.json\n  tanren diff r41..r43           two runs',
    run: async (what, options) => (await import('../commands/history/diff.js')).runDiff(what, options),
  }),
  command({
    words: 'attest [targets...]',
    description: 'write in-toto statements with SLSA provenance of the current results of the targets and of all stages before them',
    options: {
      ...PIPELINE,
      json,
      output: value('-o, --output <path>', 'file to write, one statement or envelope per line', parseText, {
        value: 'attestation.intoto.jsonl',
        shown: 'attestation.intoto.jsonl',
      }),
      sign: optional(
        '--sign <path>',
        'PEM file of an Ed25519 private key that signs them (default: TANREN_REMOTE_SIGN, or `sign` of the settings)',
        parseText,
      ),
    },
    run: async (targets, options) => (await import('../commands/history/attest.js')).runAttest(targets, options),
  }),
  command({
    words: 'verify-attestation <attestation>',
    description: 'check signatures, action keys and files of an attestation',
    options: {
      json,
      key: repeated(
        '--key <path>',
        'PEM file of an Ed25519 public key; only what one has signed counts (default: `trust` of the settings)',
        parseText,
      ),
      folder: value('--folder <path>', 'folder that holds artifacts/', parseText, { value: '.', shown: '.' }),
    },
    run: async ([path = ''], options) => (await import('../commands/history/attest.js')).runVerifyAttestation(path, options),
  }),
  command({
    words: 'profile [run]',
    description: 'show where the time of a run went: critical path, slowest stages, waits (default: the last run)',
    options: {
      file,
      json,
      output: optional(
        '-o, --output <path>',
        'write the timeline in the Trace Event Format, for Perfetto (ui.perfetto.dev) or chrome://tracing',
        parseText,
      ),
    },
    run: async ([run = 'last'], options) => (await import('../commands/history/profile.js')).runProfile(run, options),
  }),
];
