/** The arena of a part over time: each tensor at its place, from the unit that writes it to the last that reads it. */
import { formatBytes } from '../../../base/text/format.js';
import type { MemoryReport } from '../../../target/report/memory-report.js';
import { AxisY, Chart } from '../parts/chart.js';
import { linearScale } from '../parts/scale.js';
import type { Unit } from './compile-report.js';

interface MemoryProps {
  readonly memory: MemoryReport;
  readonly units: readonly Unit[];
  readonly picked: number | undefined;
  readonly pick: (id: number) => void;
}

const FRAME = { height: 240, left: 70, bottom: 24, top: 10, right: 10 };

export function MemoryChart({ memory: { peakBytes, boundBytes, units: order, tensors, onChip }, units, picked, pick }: MemoryProps) {
  const width = Math.max(600, Math.min(1300, 90 + order.length * 14));
  const frame = { ...FRAME, width };
  const x = linearScale([0, order.length], [FRAME.left, width - FRAME.right]);
  const y = linearScale([0, Math.max(1, peakBytes)], [FRAME.height - FRAME.bottom, FRAME.top], 4);
  const at = picked === undefined ? -1 : order.indexOf(picked);
  return (
    <figure class="figure">
      <Chart label="Memory over time" size={frame} summary={`${tensors.length} tensors in ${formatBytes(peakBytes)}`}>
        <AxisY frame={frame} scale={y} format={formatBytes} />
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
        <text x={FRAME.left} y={FRAME.height - 6} class="soft-text">
          units in the order of their run
        </text>
      </Chart>
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
