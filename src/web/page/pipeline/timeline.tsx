/** The timeline of the last run that ran something: one row per stage, waits in light, the critical path marked. */
import { formatDuration } from '../../../base/text/format.js';
import type { PipelineView, RunTimeline } from '../../../report/views/pipeline-data.js';
import { Chart } from '../parts/chart.js';
import { Empty } from '../parts/notice.js';
import { lookOf } from '../parts/states.js';
import { clip, formatTime } from '../parts/text.js';

interface TimelineProps {
  readonly pipeline: PipelineView;
  readonly picked: string | undefined;
  readonly pick: (stage: string) => void;
}

export function Timeline({ pipeline: { lastRun }, picked, pick }: TimelineProps) {
  if (lastRun === undefined) {
    return (
      <section>
        <h2>Timeline</h2>
        <Empty>No build has run a stage yet. “Run all” starts one.</Empty>
      </section>
    );
  }
  return (
    <section>
      <h2>Timeline of {lastRun.run}</h2>
      <p class="soft">
        {formatTime(lastRun.started)}, {formatDuration(lastRun.durationMs)}, {lookOf(lastRun.conclusion).word}. A bar is a run, a light bar
        a wait for a slot; ◆ marks the critical path.
      </p>
      <TimelineChart run={lastRun} picked={picked} pick={pick} />
    </section>
  );
}

const [ROW, LABEL, WIDTH, TOP] = [20, 190, 1000, 22];

export function TimelineChart({
  run,
  picked,
  pick,
}: {
  readonly run: RunTimeline;
  readonly picked: string | undefined;
  readonly pick?: (stage: string) => void;
}) {
  const rows = run.stages.filter(({ spans }) => spans.length > 0);
  if (rows.length === 0) return <Empty>The run has no recorded times.</Empty>;
  const critical = new Set(run.criticalPath);
  const endMs = Math.max(1, ...rows.flatMap(({ spans }) => spans.map(({ atMs, durationMs }) => atMs + durationMs)));
  const x = (ms: number): number => LABEL + (ms / endMs) * (WIDTH - LABEL - 8);
  const height = TOP + rows.length * ROW + 4;
  return (
    <Chart
      class="timeline"
      label="Timeline"
      size={{ width: WIDTH, height }}
      summary={`Timeline: ${rows.length} stages in ${formatDuration(endMs)}`}
    >
      {ticksOf(endMs).map(ms => (
        <g key={ms} class="tick">
          <line x1={x(ms)} x2={x(ms)} y1={TOP - 4} y2={height} />
          <text x={x(ms)} y={13}>
            {formatDuration(ms)}
          </text>
        </g>
      ))}
      {rows.map(({ stage, outcome, spans }, index) => (
        <g
          key={stage}
          class={`row ${lookOf(outcome).tone}${picked === stage ? ' picked' : ''}`}
          transform={`translate(0 ${TOP + index * ROW})`}
          onClick={() => pick?.(stage)}
        >
          <rect class="hit" width={WIDTH} height={ROW} />
          <text x={2} y={14}>
            {critical.has(stage) ? '◆ ' : ''}
            {clip(stage, 26)}
          </text>
          {spans.map(({ what, atMs, durationMs }, at) => (
            <rect key={at} class={what} x={x(atMs)} y={4} width={Math.max(1, x(atMs + durationMs) - x(atMs))} height={ROW - 8} rx={2}>
              <title>{`${stage}: ${what} ${formatDuration(durationMs)}, from ${formatDuration(atMs)}`}</title>
            </rect>
          ))}
        </g>
      ))}
    </Chart>
  );
}

/** Round times, at most some eight. */
function ticksOf(endMs: number): readonly number[] {
  const rough = endMs / 7;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find(factor => factor * power >= rough) ?? 10);
  return Array.from({ length: Math.floor(endMs / step) + 1 }, (_, index) => index * step);
}
