/** Commands that show a pipeline and its stages, and change nothing. */
import { command, type Declared } from './command.js';
import { choice, flag, optional, required } from './option.js';
import { cache, json, PIPELINE } from './shared-options.js';
import { parseText, parseWith } from './values.js';

const parsePort = parseWith(
  text => (/^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined),
  'a port from 0 to 65535',
);

export const VIEWS: readonly Declared[] = [
  command({
    words: 'status [targets...]',
    description: 'show which stages are up to date, and why the others are not; writes nothing',
    options: { ...PIPELINE, json, cache, why: flag('--why', 'group by cause: each change, and below it the stages that it reaches') },
    run: async (targets, options) => (await import('../commands/build/status.js')).runStatus(targets, options),
  }),
  command({
    words: 'explain <stages...>',
    description: 'show what changed since the last run of a stage, down to the parameter or file, and how the change reached it',
    options: { ...PIPELINE, json, cache },
    run: async (targets, options) => (await import('../commands/build/explain.js')).runExplain(targets, options),
  }),
  command({
    words: 'affected [targets...]',
    description: 'list the stages whose keys change with the files, code and parameters that differ from a Git revision',
    options: {
      ...PIPELINE,
      base: required('--base <revision>', 'the revision to compare the working tree with: a commit, branch or tag', parseText),
      names: flag('--names', 'print only the names of the stages, one per line', ['json']),
      json,
    },
    after: 'Examples:\n  tanren affected --base HEAD\n  tanren affected --base "$(git merge-base origin/main HEAD)" --names',
    run: async (targets, options) => (await import('../commands/history/affected.js')).runAffected(targets, options),
  }),
  command({
    words: 'graph [targets...]',
    description: 'show the graph of stages',
    options: { ...PIPELINE, json, format: choice('--format <format>', 'output format', ['text', 'mermaid', 'dot'], 'text') },
    run: async (targets, options) => (await import('../commands/build/graph.js')).runGraph(targets, options),
  }),
  command({
    words: 'log <stages...>',
    description: "show the log of a stage's last run, or of the run that made its restored result",
    options: { ...PIPELINE, run: optional('--run <run>', 'show the log as of this run of the history: r41, last, last~1', parseText) },
    run: async (targets, options) => (await import('../commands/build/log.js')).runLog(targets, options),
  }),
  command({
    words: 'ui [file]',
    description: 'show the project as a live page in the browser, reachable from this machine only',
    options: {
      ...PIPELINE,
      cache,
      readOnly: flag('--read-only', 'show everything, and start and change nothing'),
      newToken: flag('--new-token', 'replace the token: addresses printed before are no longer valid'),
      port: optional('--port <n>', "port to listen at (default: the project's own)", parsePort),
    },
    run: async (files, options) => (await import('../commands/ui/ui.js')).runUi(files, options),
  }),
];
