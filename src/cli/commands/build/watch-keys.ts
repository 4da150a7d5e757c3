/** Keys of `tanren watch` on a terminal: figures against the run before or a baseline, logs, states, another build, the end. */
import { listBaselines } from '../../../engine/insight/history/baseline.js';
import type { Plan } from '../../../engine/model/plan.js';
import type { BuildReport } from '../../../engine/model/report.js';
import type { PipelineOptions } from '../../pipeline/open-plan.js';
import type { Console } from '../../terminal/console.js';

/** What the keys act on. */
export interface KeyTarget {
  readonly options: PipelineOptions;
  readonly console: Console;
  /** The last round; undefined before its end, and while a build runs. */
  idle(): { readonly plan: Plan; readonly report: BuildReport } | undefined;
  /** Looks at everything again, and builds. */
  rebuild(): void;
}

export interface Keys {
  close(): void;
}

export const KEYS_HINT = 'b compares, l log, m figures, s states, r builds again, q ends';

/** Listens if both ends are a terminal. @returns undefined if not. */
export function listenToKeys(target: KeyTarget, stdin: NodeJS.ReadStream = process.stdin): Keys | undefined {
  if (!target.console.live || stdin.isTTY !== true) return undefined;
  const state: KeyState = { target, compared: -1, busy: false };
  const onKey = (bytes: Buffer): void => {
    for (const key of bytes.toString('latin1')) void press(state, key);
  };
  stdin.setRawMode(true);
  stdin.resume().on('data', onKey);
  return {
    close() {
      stdin.off('data', onKey);
      stdin.setRawMode(false);
      stdin.pause();
    },
  };
}

interface KeyState {
  readonly target: KeyTarget;
  /** Index of what was compared last: the run before, then each baseline. */
  compared: number;
  /** A command of an earlier key still prints. */
  busy: boolean;
}

const [CTRL_C, CTRL_D] = ['\u0003', '\u0004'];

async function press(state: KeyState, key: string): Promise<void> {
  const { target } = state;
  // In this mode the terminal sends Ctrl-C as a key.
  if (key === CTRL_C || key === CTRL_D || key === 'q') process.kill(process.pid, 'SIGINT');
  const round = target.idle();
  if (round === undefined || state.busy) return;
  if (key === 'r') target.rebuild();
  const command = commandOf(key, state, round);
  if (command === undefined) return;
  state.busy = true;
  try {
    await command();
    target.console.line(target.console.style('dim', `watching; ${KEYS_HINT}`));
  } finally {
    state.busy = false;
  }
}

function commandOf(
  key: string,
  state: KeyState,
  { plan, report }: { readonly plan: Plan; readonly report: BuildReport },
): (() => Promise<unknown>) | undefined {
  const { options, console } = state.target;
  switch (key) {
    case 'b': {
      const choices = [[], ...listBaselines(plan).map(name => [name])];
      state.compared = (state.compared + 1) % choices.length;
      const words = choices[state.compared] ?? [];
      console.line(console.style('bold', words.length === 0 ? 'against the run before' : `against the baseline ${words[0]}`));
      return async () => (await import('../history/diff.js')).runDiff(words, { ...options, all: false, json: false });
    }
    case 'l': {
      const stages = stagesWithLogs(report);
      if (stages.length === 0) return async () => console.line('no stage ran since the start');
      return async () => (await import('./log.js')).runLog(stages, options);
    }
    case 'm':
      return async () => (await import('../history/metrics.js')).runMetrics([], { ...options, json: false });
    case 's':
      return async () => (await import('./status.js')).runStatus([], { ...options, json: false });
    case '?':
    case 'h':
      return async () => undefined;
    default:
      return undefined;
  }
}

/** Failed stages; where none failed, those that ran. */
function stagesWithLogs({ stages }: BuildReport): readonly string[] {
  const of = (kind: string): readonly string[] =>
    [...stages.values()].flatMap(({ stage, outcome }) => (outcome.kind === kind ? [stage] : []));
  const failed = of('failed');
  return failed.length > 0 ? failed : of('executed');
}
