/** `tanren clean`: removes the files that builds wrote, and nothing else. */
import { clean } from '../../../engine/store/maintenance/clean.js';
import { makeEnginePorts } from '../../pipeline/engine-ports.js';
import { formatWaiting } from '../../pipeline/format-waiting.js';
import { openPlan, type PipelineOptions } from '../../pipeline/open-plan.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { abortOnSignals } from '../../process/interruption.js';
import { makeConsole } from '../../terminal/console.js';

export async function runClean(targets: readonly string[], options: PipelineOptions & { readonly all: boolean }): Promise<ExitCode> {
  const console = makeConsole({ json: false });
  const opened = await openPlan(options, targets, console);
  if (opened === undefined) return EXIT.usage;
  const signal = abortOnSignals();
  const ports = makeEnginePorts(event => {
    if (event.kind === 'waiting-for-lock') console.line(formatWaiting(event, Date.now()));
    if (event.kind === 'warning') console.problem('warning', `warning[${event.code}]: ${event.message}`);
  }, signal);
  const what = options.all ? 'everything' : 'artifacts';
  const cleaned = await clean(opened.plan, { targets: opened.targets, what }, ports).catch((error: unknown): 'interrupted' => {
    if (signal.aborted) return 'interrupted';
    throw error;
  });
  if (cleaned === 'interrupted') return EXIT.interrupted;
  const { removed, left } = cleaned;
  for (const folder of removed) console.line(`removed ${folder}`);
  for (const path of left) console.line(`kept ${path}: no build wrote it`);
  if (removed.length === 0) console.line('nothing to remove');
  else if (!options.all) console.line('the next build restores them from cache/');
  return EXIT.built;
}
