/** Formats where the time of a run went: critical path, slowest stages, waits and parts. */
import { formatDuration } from '../../base/text/format.js';
import type { StageTime, Timing } from '../../engine/insight/history/timing.js';
import type { Console } from '../terminal/console.js';
import { padEnd, widest } from '../terminal/display-width.js';

const SLOWEST = 5;

export function formatTiming(
  { criticalPath, criticalShare, slowest, waits, parts }: Timing,
  { style }: Pick<Console, 'style'>,
): readonly string[] {
  const shown = slowest.slice(0, SLOWEST);
  const width = widest([...criticalPath, ...shown].map(({ stage }) => stage));
  const title = (text: string): string => style('bold', text);
  const stages = (times: readonly StageTime[]): readonly string[] => times.map(time => `  ${formatStage(time, width)}`);
  return [
    title(`critical path: ${percent(criticalShare)} of the time`),
    ...stages(criticalPath),
    ...(shown.length === 0
      ? []
      : [
          title(slowest.length > SLOWEST ? `slowest of ${slowest.length} stages that ran` : 'stages that ran, the slowest first'),
          ...stages(shown),
        ]),
    title(
      waits.length === 0
        ? 'no stage waited for a slot'
        : `${waits.length === 1 ? '1 stage' : `${waits.length} stages`} waited for slots: ${formatDuration(sum(waits.map(wait => wait.waitedMs)))} in total`,
    ),
    ...waits
      .slice(0, SLOWEST)
      .map(({ stage, pools, waitedMs }) => `  ${stage}: ${formatDuration(waitedMs)}${pools.length === 0 ? '' : ` (${pools.join(', ')})`}`),
    ...(parts.length === 0 ? [] : [title('parts')]),
    ...parts.map(({ stage, part, kept, computed, dropped, durationMs }) => {
      const counts = [`${kept} kept`, `${computed} computed`, ...(dropped > 0 ? [`${dropped} dropped`] : [])];
      return `  ${stage}: ${part}: ${counts.join(', ')} in ${formatDuration(durationMs)}`;
    }),
  ];
}

function formatStage({ stage, outcome, durationMs, waitedMs, share }: StageTime, width: number): string {
  const waited = waitedMs >= 1 ? `, after ${formatDuration(waitedMs)} of waiting` : '';
  return `${padEnd(stage, width)}  ${percent(share).padStart(5)}  ${outcome} in ${formatDuration(durationMs)}${waited}`;
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
