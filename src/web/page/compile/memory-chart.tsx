/** The arena of a part over time: each tensor at its place, from the unit that writes it to the last that reads it. */
import { formatBytes } from '../../../base/text/format.js';
import type { MemoryReport } from '../../../target/report/memory-report.js';
import { linearScale } from '../parts/scale.js';
import { Scroll } from '../parts/scroll.js';
import type { Unit } from './compile-report.js';

interface MemoryProps {
  readonly memory: MemoryReport;
  readonly units: readonly Unit[];
  readonly picked: number | undefined;
  readonly pick: (id: number) => void;
}

const [HEIGHT, LEFT, BOTTOM, TOP, RIGHT] = [240, 70, 24, 10, 10];

export function MemoryChart({ memory: { peakBytes, boundBytes, units: order, tensors, onChip }, units, picked, pick }: MemoryProps) {
  const width = Math.max(600, Math.min(1300, 90 + order.length * 14));
  const x = linearScale([0, order.length], [LEFT, width - RIGHT]);
  const y = linearScale([0, Math.max(1, peakBytes)], [HEIGHT - BOTTOM, TOP], 4);
  const at = picked === undefined ? -1 : order.indexOf(picked);
  return (
    <figure class="figure">
      <Scroll class="chart" label="Memory over time">
        <svg
          viewBox={`0 0 ${width} ${HEIGHT}`}
          width={width}
          height={HEIGHT}
          role="img"
          aria-label={`${tensors.length} tensors in ${formatBytes(peakBytes)}`}
        >
          {y.ticks.map(tick => (
            <g key={tick} class="tick">
              <line x1={LEFT} x2={width - RIGHT} y1={y(tick)} y2={y(tick)} />
              <text x={LEFT - 6} y={y(tick) + 4} text-anchor="end">
                {formatBytes(tick)}
              </text>
            </g>
          ))}
          {tensors.map(({ name, bytes, offset, first, last }) => (
            <rect
              key={`${name} ${offset}`}
              class={`tensor${at >= first && at <= last ? ' picked' : ''}`}
              x={x(first)}
              y={y(offset + bytes)}
              width={Math.max(1, x(last + 1) - x(first) - 0.5)}
              height={Math.max(0.5, y(offset) - y(offset + bytes) - 0.5)}
              onClick={() => order[first] !== undefined && pick(order[first])}
            >
              <title>{`${name}: ${formatBytes(bytes)} at ${formatBytes(offset)}, from ${nameOf(units, order[first])} to ${nameOf(units, order[last])}`}</title>
            </rect>
          ))}
          <text x={LEFT} y={HEIGHT - 6} class="soft-text">
            units in the order of their run
          </text>
        </svg>
      </Scroll>
      <figcaption>
        {peakBytes === boundBytes ? 'No plan needs less.' : `No plan needs less than ${formatBytes(boundBytes)}.`}
        {onChip !== undefined && ` The chip has ${formatBytes(onChip.bytes)}.`}
      </figcaption>
    </figure>
  );
}

function nameOf(units: readonly Unit[], id: number | undefined): string {
  return units.find(unit => unit.id === id)?.name ?? '?';
}
