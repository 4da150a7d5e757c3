/** One call of a model over time, by the estimate: the parts in their order, and their units on the NPU, the CPU and the host. */
import { formatNumber } from '../../../report/numbers.js';
import { boundOf } from '../../../target/estimate/layer-rows.js';
import { AxisX, Chart } from '../parts/chart.js';
import { Empty } from '../parts/notice.js';
import { linearScale } from '../parts/scale.js';
import { clip } from '../parts/text.js';
import { wordsOfBound } from './bounds.js';
import { type CallSpan, listCallSpans } from './call-spans.js';
import type { CompiledModel } from './compile-report.js';

interface GanttProps {
  readonly model: CompiledModel;
  readonly picked: number | undefined;
  readonly pick: (id: number) => void;
}

const FRAME = { width: 1000, height: 158, left: 52, right: 32, top: 8, bottom: 26 };

const LANES = { part: 8, npu: 38, cpu: 68, host: 98 } as const;

const LANE_NAMES = { part: 'parts', npu: 'NPU', cpu: 'CPU', host: 'host' } as const;

const LANE_HEIGHT = 22;

/** A part of fewer pixels has no room for its name. */
const LEAST_NAMED_PX = 46;

export function Gantt({ model, picked, pick }: GanttProps) {
  const { units, parts, endMs } = listCallSpans(model);
  const restMs = (model.estimate?.image?.perCall.ms ?? endMs) - endMs;
  if (endMs === 0) return <Empty>The report estimates no times of units.</Empty>;
  const x = linearScale([0, endMs], [FRAME.left, FRAME.width - FRAME.right], 8);
  const width = ({ fromMs, ms }: Pick<CallSpan, 'fromMs' | 'ms'>): number => Math.max(0.4, x(fromMs + ms) - x(fromMs));
  return (
    <figure class="figure">
      <Chart
        label="Parts over time"
        class="chart gantt"
        size={FRAME}
        role="group"
        summary={`${parts.length} parts in ${formatNumber(endMs)} ms, estimated`}
      >
        <AxisX frame={FRAME} scale={x} format={ms => `${formatNumber(ms)} ms`} />
        {(['part', 'npu', 'cpu', 'host'] as const).map(lane => (
          <text key={lane} class="soft-text" x={2} y={LANES[lane] + 15}>
            {LANE_NAMES[lane]}
          </text>
        ))}
        {parts.map(({ part, fromMs, ms }) => (
          <g key={part.index} class={`part ${part.device}`}>
            <rect x={x(fromMs)} y={LANES.part} width={width({ fromMs, ms })} height={LANE_HEIGHT}>
              <title>{`part ${part.name}: ${part.units.length} units, ${formatNumber(ms)} ms from ${formatNumber(fromMs)} ms`}</title>
            </rect>
            {width({ fromMs, ms }) > LEAST_NAMED_PX && (
              <text x={x(fromMs) + 4} y={LANES.part + 15}>
                {clip(part.name, Math.floor(width({ fromMs, ms }) / 7))}
              </text>
            )}
          </g>
        ))}
        {units.map(({ unit, fromMs, ms }) => (
          <rect
            key={unit.id}
            class={`span ${laneOf(unit)} ${boundOf(unit) ?? ''}${unit.id === picked ? ' picked' : ''}`}
            x={x(fromMs)}
            y={LANES[laneOf(unit)]}
            width={width({ fromMs, ms })}
            height={LANE_HEIGHT}
            onClick={() => pick(unit.id)}
          >
            <title>{`${unit.opType} ${unit.name}\n${formatNumber(ms)} ms from ${formatNumber(fromMs)} ms, bound by ${wordsOfBound(unit)}, part ${parts.find(one => one.part.index === unit.part)?.part.name ?? unit.part}`}</title>
          </rect>
        ))}
      </Chart>
      <figcaption>
        Estimates: parts run one after the other. Blue units are bound by compute, orange ones by memory, violet ones by a time per layer; a
        unit on the CPU includes the hand-over. Q and DQ at an end of a part on the NPU run on the host.{' '}
        {restMs > endMs * 1e-3 && `A call takes ${formatNumber(restMs)} ms besides its units. `}The table below has the same units.
      </figcaption>
    </figure>
  );
}

function laneOf({ device, edge }: CallSpan['unit']): 'npu' | 'cpu' | 'host' {
  return edge ? 'host' : device;
}
