/** Renders a running build. A terminal shows a live line per running stage below the lines of ended stages; other outputs get a plain line per event. */
import { assertNever } from '../../base/assert-never.js';
import { formatDuration } from '../../base/format.js';
import type { BuildEvent } from '../../engine/model/events.js';
import { describeOutcome, type Outcome } from '../../engine/model/outcome.js';
import type { StageId } from '../../engine/model/plan.js';
import { checkLine } from './check-report.js';
import type { Console } from './console.js';
import { formatWaiting } from './format-waiting.js';
import { trackTimeLeft } from './time-left.js';

export interface BuildRenderer {
  readonly emit: (event: BuildEvent) => void;
  /** Erases the live area. */
  readonly end: () => void;
}

interface Running {
  readonly since: number;
  progress: string;
}

const REFRESH_MS = 100;

export function makeBuildRenderer(console: Console, idWidth: number): BuildRenderer {
  const { style } = console;
  const running = new Map<StageId, Running>();
  const timeLeft = trackTimeLeft();
  let drawn = 0;
  let timer: NodeJS.Timeout | undefined;

  const erase = (): void => {
    if (drawn > 0) console.raw(`\u001b[${drawn}A\u001b[0J`);
    drawn = 0;
  };
  const draw = (): void => {
    if (!console.live) return;
    erase();
    const left = running.size === 0 ? undefined : timeLeft.describe(performance.now());
    for (const text of [
      ...liveLines(running, console.height() - (left === undefined ? 0 : 1), idWidth),
      ...(left === undefined ? [] : [`  ${left}`]),
    ]) {
      console.raw(`${style('cyan', text.slice(0, console.width() - 1))}\n`);
      drawn += 1;
    }
    if (running.size > 0 && timer === undefined) timer = setInterval(draw, REFRESH_MS);
    if (running.size === 0 && timer !== undefined) {
      clearInterval(timer);
      timer = undefined;
    }
  };
  const line = (text: string): void => {
    erase();
    console.line(text);
    draw();
  };
  const stageLine = (mark: string, stage: StageId, text: string): void => line(`${mark} ${stage.padEnd(idWidth)}  ${text}`);

  const emit = (event: BuildEvent): void => {
    timeLeft.hear(event, performance.now());
    switch (event.kind) {
      case 'waiting-for-lock':
        line(style('yellow', formatWaiting(event, Date.now())));
        break;
      case 'stage-started':
        running.set(event.stage, { since: performance.now(), progress: '' });
        if (!console.live) stageLine('▸', event.stage, reasonsOf(event.reasons, event.attempt));
        draw();
        break;
      case 'progress': {
        const state = running.get(event.stage);
        if (state !== undefined) state.progress = `${event.done} of ${event.total} ${event.what}`;
        break;
      }
      case 'log':
      case 'outlook':
      case 'span':
        break;
      case 'warning':
        line(style('yellow', `warning[${event.code}]: ${event.stage === undefined ? '' : `${event.stage}: `}${event.message}`));
        break;
      case 'retrying':
        stageLine(style('yellow', '↻'), event.stage, `${firstLine(event.message)}; next try in ${formatDuration(event.inMs)}`);
        break;
      case 'run-outdated':
        running.delete(event.stage);
        stageLine(style('yellow', '–'), event.stage, `stopped: ${firstLine(event.because)}`);
        break;
      case 'outcome':
        running.delete(event.stage);
        if (isNews(event.outcome)) stageLine(markOf(event.outcome, console), event.stage, firstLine(describeOutcome(event.outcome)));
        draw();
        break;
      case 'waiting-for-run':
        stageLine('…', event.stage, `another ${event.where === 'here' ? 'stage' : 'checkout'} runs this action: waiting for its result`);
        break;
      case 'gate':
        break;
      case 'check-started':
        running.set(event.stage, { since: performance.now(), progress: 'once more, to compare' });
        if (!console.live) stageLine('▸', event.stage, 'once more, to compare');
        draw();
        break;
      case 'check':
        running.delete(event.result.stage);
        if (event.result.verdict !== 'cancelled') line(checkLine(event.result, console));
        draw();
        break;
      default:
        assertNever(event);
    }
  };
  return {
    emit,
    end() {
      running.clear();
      erase();
      if (timer !== undefined) clearInterval(timer);
      timer = undefined;
    },
  };
}

/** One line per running stage. If the terminal is too low for all of them, the last line says how many more there are. */
function liveLines(running: ReadonlyMap<StageId, Running>, height: number, idWidth: number): readonly string[] {
  const lines = [...running].map(([stage, { since, progress }]) =>
    `  ${stage.padEnd(idWidth)}  ${formatDuration(performance.now() - since)}  ${progress}`.trimEnd(),
  );
  const room = Math.max(1, height - 2);
  return lines.length <= room ? lines : [...lines.slice(0, room - 1), `  and ${lines.length - room + 1} more`];
}

/** The first line of a message. Messages can have many lines, such as a program's last output; the report at the end prints them in full. */
function firstLine(text: string): string {
  const end = text.indexOf('\n');
  return end < 0 ? text : `${text.slice(0, end).trimEnd()} …`;
}

function reasonsOf(reasons: readonly string[], attempt: number): string {
  const [first = 'it has no result yet', ...more] = reasons;
  const rest = more.length === 0 ? '' : ` (and ${more.length} more: tanren explain)`;
  return `${attempt > 1 ? `try ${attempt}; ` : ''}${first}${rest}`;
}

/** Stages that are up to date are counted at the end, not listed. */
function isNews(outcome: Outcome): boolean {
  return outcome.kind !== 'up-to-date';
}

function markOf(outcome: Outcome, { style }: Console): string {
  switch (outcome.kind) {
    case 'executed':
      return style('green', '✓');
    case 'restored':
      return style('green', '↺');
    case 'up-to-date':
      return '=';
    case 'failed':
      return style('red', '✗');
    case 'skipped':
    case 'cancelled':
      return style('yellow', '–');
    default:
      return assertNever(outcome);
  }
}
