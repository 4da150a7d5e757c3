/** `tanren watch`: builds, and builds again after every save. Events only say when to look; what changed is found by planning and building again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from '../../engine/build.js';
import { type FileWatcher, watchFiles } from '../../engine/watch/file-watcher.js';
import { makeHints } from '../../engine/watch/hints.js';
import { watchedPaths } from '../../engine/watch/watched-paths.js';
import { abortOnSignals, makeEnginePorts } from '../engine-ports.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { load, type PipelineOptions, printDiagnostics, resolveTargets } from '../open-plan.js';
import { makeBuildRenderer } from '../render/build-renderer.js';
import { printBuildReport } from '../render/build-report.js';
import { type Console, makeConsole } from '../render/console.js';

export interface WatchCommandOptions extends PipelineOptions {
  readonly jobs: number | undefined;
  readonly keepGoing: boolean;
}

/** Long enough for an editor's rename and for the second file of one save. */
const QUIET_MS = 30;

export async function runWatch(targets: readonly string[], options: WatchCommandOptions): Promise<ExitCode> {
  const console = makeConsole({ json: false });
  const signal = AbortSignal.any([abortOnSignals(), abortOnClosedOutput()]);
  const hints = makeHints((durationMs, until) => sleep(durationMs, undefined, { signal: until }).catch(() => undefined));
  const watcher = watchFiles(hints.hint);
  try {
    for (let round = 0; !signal.aborted; round++) {
      hints.begin();
      await runRound(targets, options, console, watcher, signal, round === 0 ? 'all' : 'changed');
      if (signal.aborted) break;
      console.line(console.style('dim', 'watching; Ctrl-C ends'));
      await hints.wait(QUIET_MS, signal);
    }
  } finally {
    await watcher.close();
  }
  return EXIT.interrupted;
}

/** One plan and build. A broken pipeline file is said, and watched for its mending. */
async function runRound(
  targets: readonly string[],
  options: WatchCommandOptions,
  console: Console,
  watcher: FileWatcher,
  signal: AbortSignal,
  tables: 'all' | 'changed',
): Promise<void> {
  let loaded = await load(options, 'keep');
  while ((await watcher.setPaths(watchedPaths(loaded.plan, loaded.files))) === 'changed') loaded = await load(options, 'keep');
  const { plan } = loaded;
  const { targets: resolved, diagnostics } = resolveTargets(loaded, targets);
  printDiagnostics(diagnostics, loaded.sources, console);
  if (plan === undefined || resolved === undefined) return;
  const renderer = makeBuildRenderer(console, Math.max(...[...plan.stages.keys()].map(id => id.length)));
  const report = await build(
    plan,
    {
      targets: resolved,
      asked: { targets, params: options.param },
      failures: options.keepGoing ? 'keep-going' : 'stop',
      force: 'never',
      ...(options.jobs === undefined ? {} : { jobs: options.jobs }),
    },
    makeEnginePorts(renderer.emit, signal),
  ).finally(renderer.end);
  printBuildReport(plan, report, console, tables);
}

/** Where nobody can see the rounds any more, there is nothing to watch for. */
function abortOnClosedOutput(): AbortSignal {
  const controller = new AbortController();
  process.stdout.once('error', () => controller.abort());
  return controller.signal;
}
