/** Commands that build stages or remove what was built. */

import { parseReports } from '../pipeline/report-orders.js';
import { command, type Declared } from './command.js';
import { choice, flag, optional, repeated } from './option.js';
import { cache, json, PIPELINE, REMOTE } from './shared-options.js';
import { parseCount, parseText } from './values.js';

const jobs = optional('-j, --jobs <n>', 'largest number of stages that run at once', parseCount);
const keepGoing = flag('-k, --keep-going', 'after a failure, run the stages that do not depend on the failed one');
const metrics = choice('--metrics <form>', 'figures at the end: the headlines of the plugins, or all', ['summary', 'full'], 'summary');

export const BUILDS: readonly Declared[] = [
  command({
    words: 'build [targets...]',
    description: 'build the targets and their dependencies; a target is a stage or a group (default: all stages)',
    options: {
      ...PIPELINE,
      json,
      cache,
      ...REMOTE,
      jobs,
      keepGoing,
      metrics,
      dryRun: flag('-n, --dry-run', 'print what would run and why; write nothing'),
      frozen: flag('--frozen', 'build the results in pipeline.lock, or report the differences; never write the lock file'),
      force: flag('--force', 'run the targets even if their results are known'),
      rehash: flag('--rehash', 'read every source, program, module and artifact again, even if its time and size are unchanged'),
      check: flag('--check', 'run the targets once more and compare the bytes with their results', ['dryRun']),
      sandbox: flag('--sandbox', 'run each stage where it sees only what it declares (Linux)', ['dryRun']),
      fromClean: flag(
        '--from-clean',
        'with --check: build everything again in other folders, with other jobs, from caches, and compare the bytes',
      ),
      report: repeated(
        '--report <forms>',
        'write reports for CI, separated by commas: junit=FILE, json=FILE, markdown[=FILE] (default: GITHUB_STEP_SUMMARY), github (annotations)',
        parseReports,
      ),
      base: optional('--base <name>', 'what the Markdown report compares with: a run, a baseline or a Git revision', parseText),
      strict: flag('--strict', 'fail a stage that reads or writes files it does not declare (Linux)', ['dryRun']),
    },
    after:
      'Examples:\n  tanren build\n  tanren build quantize -p preset=a8w8\n  tanren build evaluate-int8 --jobs 4 --keep-going\n  tanren build --frozen',
    run: async (targets, options) => (await import('../commands/build/build.js')).runBuild(targets, options),
  }),
  command({
    words: 'watch [targets...]',
    description: 'build, and build again after each change of a file that the pipeline uses',
    options: {
      ...PIPELINE,
      cache,
      jobs,
      keepGoing: flag('-k, --keep-going', 'after a failure, run the stages that do not depend on the failed one (the default)'),
      stop: flag('--stop', 'after a failure, start no more stages', ['keepGoing']),
      metrics,
      ui: flag('--ui', 'also show the project as a live page in the browser, as `tanren ui` does'),
      subset: optional(
        '--subset <images>',
        'before an evaluation of all images, print its figures on the first ones, marked as a subset',
        parseCount,
      ),
      poll: flag('--poll', 'check the files every second instead of waiting for events; for network file systems'),
    },
    run: async (targets, options) => (await import('../commands/build/watch.js')).runWatch(targets, options),
  }),
  command({
    words: 'sweep [targets...]',
    description:
      'build the pipeline with every combination of values, and compare accuracy, NPU share, estimated latency and size (default targets: all stages with metrics that the values affect)',
    options: {
      ...PIPELINE,
      vary: repeated('-m, --vary <name=values>', 'values of a parameter or of a setting, separated by commas', parseText),
      maximize: repeated('--maximize <metric>', 'a metric to sort by, highest first', parseText),
      minimize: repeated('--minimize <metric>', 'a metric to sort by, lowest first; "size" is the size of the models', parseText),
      output: repeated('-o, --output <path>', 'write all rows to a .json or .csv file', parseText),
      json,
      cache,
      jobs,
    },
    after:
      'Examples:\n  tanren sweep -m preset=xint8,a8w8 -m range=min-max,percentile:99.9,mse\n  tanren sweep evaluate-int8 -m quantize@backbone.preset=a8w8,a16w8 -o sweep.csv',
    run: async (targets, options) => (await import('../commands/build/sweep.js')).runSweep(targets, options),
  }),
  command({
    words: 'tune [targets...]',
    description:
      'search presets, ranges, methods and types for the best figure that meets the gates, and print the change of the pipeline file (default: all stages with metrics)',
    options: {
      ...PIPELINE,
      gate: repeated(
        '--gate <bound>',
        'a bound to meet: a metric, an operator and a number (default: the gates of the pipeline)',
        parseText,
      ),
      minimize: optional('--minimize <metric>', 'the metric to make low; "size" is the size of the models', parseText),
      maximize: optional('--maximize <metric>', 'the metric to make high', parseText),
      budget: optional('--budget <time>', 'time to search, such as 90s or 10m (default: until all combinations are tried)', parseText),
      vary: repeated(
        '-m, --vary <name=values>',
        'values to search, in the form of `sweep` (default: those that suit the stages)',
        parseText,
      ),
      json,
      cache,
      jobs,
    },
    after:
      'Examples:\n  tanren tune --gate "delta.bbox.AP >= -0.005" --minimize estimatedMs\n  tanren tune evaluate-int8 --minimize size -m quantize.range=min-max,mse',
    run: async (targets, options) => (await import('../commands/build/tune.js')).runTune(targets, options),
  }),
  command({
    words: 'clean [targets...]',
    description: 'remove artifacts; with --all also everything in cache/',
    options: { ...PIPELINE, all: flag('--all', 'also remove the cache; the next build runs every stage') },
    run: async (targets, options) => (await import('../commands/build/clean.js')).runClean(targets, options),
  }),
];
