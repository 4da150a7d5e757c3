/** The memory plan of a part in numbers: what makes its peak, and the units that do not fit into on-chip memory. */
import { formatBytes } from '../../../base/text/format.js';
import { formatCount } from '../../../report/numbers.js';
import type { MemoryReport, StripReport } from '../../../target/report/memory-report.js';
import { numberColumn, textColumn } from '../parts/columns.js';
import { type ColumnSpec, DataTable } from '../parts/data-table.js';
import { plainText } from '../parts/text.js';
import type { Unit } from './compile-report.js';

interface FactsProps {
  readonly memory: MemoryReport;
  readonly units: readonly Unit[];
}

export function MemoryFacts({ memory, units }: FactsProps) {
  const { peakBytes, boundBytes, gapBytes, sumBytes, peakUnit, tensors } = memory;
  const step = memory.units.indexOf(peakUnit);
  const live = tensors.filter(({ first, last }) => first <= step && step <= last).sort((a, b) => b.bytes - a.bytes);
  const facts: readonly (readonly [term: string, fact: string, hint: string])[] = [
    ['Arena', formatBytes(peakBytes), 'Memory that holds all activations of the part at their offsets'],
    ['Bound', formatBytes(boundBytes), 'Memory that is live at the worst moment: no plan needs less'],
    ['Gap', formatBytes(gapBytes), 'How far the plan is above the bound'],
    ['Sum', formatBytes(sumBytes), 'Without reuse of memory'],
    ['Most is live at', plainText(units[peakUnit]?.name ?? String(peakUnit)), 'The unit at which most memory is in use'],
  ];
  return (
    <>
      <dl class="facts">
        {facts.map(([term, fact, hint]) => (
          <div key={term} title={hint}>
            <dt>{term}</dt>
            <dd>{fact}</dd>
          </div>
        ))}
      </dl>
      <details>
        <summary>
          The {live.length} tensors that make the peak, of {tensors.length}
        </summary>
        <DataTable
          label="Tensors of the peak"
          rows={live}
          columns={TENSORS}
          keyOf={({ name, offset }) => `${name} ${offset}`}
          visibleRows={10}
        />
      </details>
      <Strips memory={memory} units={units} />
    </>
  );
}

const TENSORS: readonly ColumnSpec<MemoryReport['tensors'][number]>[] = [
  textColumn(
    'Tensor',
    ({ name }) => name,
    ({ name }) => <code>{plainText(name)}</code>,
  ),
  numberColumn('Bytes', ({ bytes }) => bytes, formatCount),
  numberColumn('Offset', ({ offset }) => offset, formatCount),
];

interface Strip {
  readonly unit: Unit | undefined;
  readonly step: number;
  readonly strip: StripReport;
}

function Strips({ memory: { onChip, units: order }, units }: FactsProps) {
  if (onChip === undefined) return null;
  const beyond = onChip.units.flatMap((strip, step): readonly Strip[] =>
    strip.fit === 'fits' ? [] : [{ strip, step, unit: units[order[step] ?? 0] }],
  );
  if (beyond.length === 0) return <p class="soft">Every unit fits into on-chip memory ({formatBytes(onChip.bytes)}).</p>;
  return (
    <details>
      <summary>
        {beyond.length} of {onChip.units.length} units are larger than on-chip memory ({formatBytes(onChip.bytes)})
      </summary>
      <p class="soft">Strips of output rows that fit, and the traffic to and from main memory that they cost.</p>
      <DataTable
        label="Units beyond on-chip memory"
        rows={[...beyond].sort((a, b) => (overheadOf(b) ?? Number.POSITIVE_INFINITY) - (overheadOf(a) ?? Number.POSITIVE_INFINITY))}
        columns={STRIPS}
        keyOf={({ step }) => String(step)}
        visibleRows={10}
      />
    </details>
  );
}

const STRIPS: readonly ColumnSpec<Strip>[] = [
  textColumn(
    'Unit',
    ({ unit }) => unit?.name ?? '',
    ({ unit }) => <code>{plainText(unit?.name ?? '')}</code>,
  ),
  textColumn('Operator', ({ unit }) => unit?.opType ?? ''),
  numberColumn('Bytes', ({ strip }) => strip.bytes, formatBytes),
  textColumn('Strips', ({ strip }) => describeStrips(strip)),
  numberColumn('Traffic', ({ strip }) => strip.strips?.trafficBytes, formatBytes),
  numberColumn('More than once each', overheadOf, formatBytes, { hint: 'Traffic beyond reading and writing each byte once' }),
];

function overheadOf({ strip: { bytes, strips } }: Strip): number | undefined {
  return strips === undefined ? undefined : strips.trafficBytes - bytes;
}

function describeStrips({ fit, strips }: StripReport): string {
  if (strips === undefined) return fit === 'too-large' ? 'a single row does not fit' : 'not cut by rows';
  const { count, rows, weights } = strips;
  return `${count} of ${rows} ${rows === 1 ? 'row' : 'rows'}${weights === 'streamed' ? ', weights read for each' : ''}`;
}
