/** The lines of a running build: what an event is about, and the stages that run. */
import { assertNever } from '../../base/assert-never.js';
import { countOf } from '../../base/text/count-of.js';
import { formatDuration } from '../../base/text/format.js';
import type { BuildEvent } from '../../engine/model/events.js';
import { describeOutcome, type Outcome } from '../../engine/model/outcome.js';
import type { StageId } from '../../engine/model/plan.js';
import { formatWaiting } from '../pipeline/format-waiting.js';
import type { Console } from '../terminal/console.js';
import { cutWithMark, padEnd } from '../terminal/display-width.js';
import { wrapHanging } from '../terminal/wrap-text.js';
import { checkLine } from './check-report.js';
import { formatElapsed } from './format-elapsed.js';

/** A stage that runs: its start on the monotonic clock, and its last progress. */
export interface Running {
  readonly sinceMs: number;
  readonly progress: string;
}

const CHECK_PROGRESS = 'second run, to compare';

/** The line to print for `event`; undefined if there is none. @param live whether running stages have a line in the live area. */
export function lineOf(
  event: BuildEvent,
  idWidth: number,
  { style, live, width }: Pick<Console, 'style' | 'live' | 'width'>,
): string | undefined {
  const stageLine = (mark: string, stage: StageId, text: string): string => `${mark} ${padEnd(stage, idWidth)}  ${text}`;
  switch (event.kind) {
    case 'waiting-for-lock':
      return style('yellow', formatWaiting(event, Date.now()));
    case 'stage-started':
      return live ? undefined : stageLine('▸', event.stage, reasonsOf(event.reasons, event.attempt));
    case 'warning':
      return style(
        'yellow',
        wrapHanging(`warning[${event.code}]: ${event.stage === undefined ? '' : `${event.stage}: `}${event.message}`, width()),
      );
    case 'retrying':
      return stageLine(style('yellow', '↻'), event.stage, `${firstLine(event.message)}; next try in ${formatDuration(event.inMs)}`);
    case 'run-outdated':
      return stageLine(style('yellow', '–'), event.stage, `stopped: ${firstLine(event.because)}`);
    case 'outcome':
      // Stages that are up to date are counted at the end, not listed.
      if (event.outcome.kind === 'up-to-date') return undefined;
      return stageLine(markOf(event.outcome, style), event.stage, firstLine(describeOutcome(event.outcome)));
    case 'waiting-for-run':
      return stageLine(
        '…',
        event.stage,
        `another ${event.where === 'here' ? 'stage' : 'checkout'} runs this action: waiting for its result`,
      );
    case 'check-started':
      return live ? undefined : stageLine('▸', event.stage, CHECK_PROGRESS);
    case 'check':
      return event.result.verdict === 'cancelled' ? undefined : checkLine(event.result, { style });
    case 'clean-build':
      return `▸ ${event.name}`;
    case 'uploading':
      return `… ${countOf(event.results, 'result')} still going to the remote cache ${event.address}`;
    case 'log':
    case 'outlook':
    case 'span':
    case 'gate':
    case 'progress':
      return undefined;
    default:
      return assertNever(event);
  }
}

/** Updates the running stages by `event`. */
export function track(running: Map<StageId, Running>, event: BuildEvent, nowMs: number): void {
  switch (event.kind) {
    case 'stage-started':
      running.set(event.stage, { sinceMs: nowMs, progress: '' });
      break;
    case 'check-started':
      running.set(event.stage, { sinceMs: nowMs, progress: CHECK_PROGRESS });
      break;
    case 'progress': {
      const one = running.get(event.stage);
      if (one !== undefined) running.set(event.stage, { ...one, progress: `${event.done} of ${event.total} ${event.what}` });
      break;
    }
    case 'run-outdated':
    case 'outcome':
      running.delete(event.stage);
      break;
    case 'check':
      running.delete(event.result.stage);
      break;
    default:
      break;
  }
}

/** One line per running stage, at most `height` lines. If there are more stages, the last line states how many. */
export function runningLines(running: ReadonlyMap<StageId, Running>, idWidth: number, height: number, nowMs: number): readonly string[] {
  const lines = [...running].map(([stage, { sinceMs, progress }]) =>
    `  ${padEnd(cutWithMark(stage, idWidth), idWidth)}  ${formatElapsed(nowMs - sinceMs)}  ${progress}`.trimEnd(),
  );
  const maxLines = Math.max(1, height);
  return lines.length <= maxLines ? lines : [...lines.slice(0, maxLines - 1), `  and ${lines.length - maxLines + 1} more`];
}

/** The first line of a message. Messages can have many lines, such as a program's last output; the report at the end prints them in full. */
function firstLine(text: string): string {
  const end = text.indexOf('\n');
  return end < 0 ? text : `${text.slice(0, end).trimEnd()} …`;
}

function reasonsOf(reasons: readonly string[], attempt: number): string {
  const [first = 'no result yet', ...more] = reasons;
  const rest = more.length === 0 ? '' : ` (and ${more.length} more: tanren explain)`;
  return `${attempt > 1 ? `try ${attempt}; ` : ''}${first}${rest}`;
}

function markOf({ kind }: Outcome, style: Console['style']): string {
  switch (kind) {
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
      return assertNever(kind);
  }
}
