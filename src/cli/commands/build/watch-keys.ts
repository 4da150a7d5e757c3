/** Keys of `tanren watch` on a terminal: figures against the run before or a baseline, logs, states, a subset first, another build, the end. */
import { listBaselines } from '../../../engine/insight/history/baseline.js';
import type { Plan } from '../../../engine/model/plan.js';
import type { BuildReport } from '../../../engine/model/report.js';
import type { PipelineOptions } from '../../pipeline/open-plan.js';
import type { Console } from '../../terminal/console.js';
import { cut } from '../../terminal/display-width.js';

/** What the keys act on. */
export interface KeyTarget {
  readonly options: PipelineOptions;
  readonly console: Console;
  /** The last round; undefined before its end, and while a build runs. */
  idle(): { readonly plan: Plan; readonly report: BuildReport } | undefined;
  /** Looks at everything again, and builds. */
  rebuild(): void;
  /** Begins or ends the evaluation of a subset before all images. @returns its images; undefined: none is evaluated first. */
  toggleSubset(): number | undefined;
  /** Stops everything that runs, and ends the command. */
  end(): void;
}

export interface Keys {
  close(): void;
}

export const KEYS_HINT = 'b compare, l log, m figures, s state, f filter, i subset, r run, q end';

/** Listens if both ends are a terminal. @returns undefined if not. */
export function listenToKeys(target: KeyTarget, stdin: NodeJS.ReadStream = process.stdin): Keys | undefined {
  if (!target.console.live || stdin.isTTY !== true) return undefined;
  const state: KeyState = { target, compared: -1, busy: false, filter: '', typed: undefined };
  const onKey = (bytes: Buffer): void => {
    for (const key of bytes.toString('utf8')) void press(state, key);
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
  /** Part of the names of the stages that logs, figures and states are of; '' for all. */
  filter: string;
  /** The filter as it is being typed. */
  typed: string | undefined;
}

const [CTRL_C, CTRL_D, BACKSPACE, NEWLINE, ENTER, ESCAPE, DELETE] = ['\u0003', '\u0004', '\b', '\n', '\r', '\u001b', '\u007f'];

async function press(state: KeyState, key: string): Promise<void> {
  const { target } = state;
  // In this mode the terminal sends Ctrl-C as a key.
  if (key === CTRL_C || key === CTRL_D) process.kill(process.pid, 'SIGINT');
  if (key === 'q' && state.typed === undefined) target.end();
  const round = target.idle();
  if (state.typed !== undefined) return type(state, key, round?.plan);
  if (round === undefined || state.busy) return;
  if (key === 'f') {
    state.typed = '';
    return target.console.raw('filter stages by: ');
  }
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

/** One key of the filter: Enter takes it, Escape drops it; an empty one shows all stages. */
function type(state: KeyState, key: string, plan: Plan | undefined): void {
  const { console } = state.target;
  const { typed = '' } = state;
  if (key === ENTER || key === NEWLINE || key === ESCAPE) {
    state.typed = undefined;
    console.raw('\n');
    if (key === ESCAPE) return;
    const found = plan === undefined ? [] : matching(plan, typed);
    if (found.length === 0) {
      const kept = state.filter === '' ? 'off' : `still "${state.filter}"`;
      console.line(`no stage has "${typed}" in its name: the filter is ${kept}`);
    } else {
      state.filter = typed;
      console.line(
        typed === ''
          ? 'the filter is off'
          : cut(`${found.length} of ${plan?.stages.size ?? 0} stages: ${found.join(', ')}`, console.width()),
      );
    }
    return;
  }
  if (key === DELETE || key === BACKSPACE) {
    state.typed = [...typed].slice(0, -1).join('');
    if (typed !== '') console.raw('\b \b');
  } else if (/^[\w@./ -]$/.test(key)) {
    state.typed = typed + key;
    console.raw(key);
  }
}

function matching(plan: Plan, filter: string): readonly string[] {
  return [...plan.stages.keys()].filter(stage => stage.includes(filter));
}

function commandOf(
  key: string,
  state: KeyState,
  { plan, report }: { readonly plan: Plan; readonly report: BuildReport },
): (() => Promise<unknown>) | undefined {
  const { options, console } = state.target;
  const { filter } = state;
  const shown = filter === '' ? [] : matching(plan, filter);
  switch (key) {
    case 'b': {
      const choices = [[], ...listBaselines(plan).map(name => [name])];
      state.compared = (state.compared + 1) % choices.length;
      const words = choices[state.compared] ?? [];
      console.line(console.style('bold', words.length === 0 ? 'against the run before' : `against the baseline ${words[0]}`));
      return async () => (await import('../history/diff.js')).runDiff(words, { ...options, all: false, json: false });
    }
    case 'l': {
      const stages = stagesWithLogs(report).filter(stage => stage.includes(filter));
      if (stages.length === 0)
        return async () =>
          console.line(filter === '' ? 'no stage ran since the start' : `no stage with "${filter}" in its name ran since the start`);
      return async () => (await import('./log.js')).runLog(stages, options);
    }
    case 'm':
      return async () => (await import('../history/metrics.js')).runMetrics(shown, { ...options, json: false });
    case 's':
      return async () => (await import('./status.js')).runStatus(shown, { ...options, json: false });
    case 'i': {
      const images = state.target.toggleSubset();
      console.line(images === undefined ? 'all images only' : `from the next change, the first ${images} images before all of them`);
      return async () => undefined;
    }
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
