/** The weights of a quantized model, and the scales per channel of one of them. */
import type { QuantizationReport } from '../../../quant/report/report-entries.js';
import { formatCount, formatDb, formatNumber } from '../../../report/numbers.js';
import { setQuery, usePlace } from '../api/router.js';
import { AxisY, Chart, type Frame } from '../parts/chart.js';
import { type ColumnSpec, DataTable } from '../parts/data-table.js';
import { NameCell } from '../parts/name-cell.js';
import { Empty } from '../parts/notice.js';
import { linearScale } from '../parts/scale.js';
import { plainText } from '../parts/text.js';

type WeightEntry = QuantizationReport['weights'][number];

export function Weights({ weights }: { readonly weights: readonly WeightEntry[] }) {
  const { query } = usePlace();
  const picked = weights.find(({ name }) => name === query.weight);
  return (
    <section>
      <h2>Weights</h2>
      {weights.length === 0 ? (
        <Empty>The model has no quantized weights.</Empty>
      ) : (
        <DataTable
          label="Weights"
          rows={weights}
          columns={COLUMNS}
          keyOf={({ name }) => name}
          picked={picked?.name}
          pick={({ name }) => setQuery({ weight: name === query.weight ? undefined : name }, 'replace')}
          visibleRows={10}
        />
      )}
      {picked !== undefined && <ChannelScales weight={picked} />}
    </section>
  );
}

/** How much more steps the channel with the smallest scale would have under the largest one. */
function spreadOf({ scale }: WeightEntry): number {
  return Math.max(...scale) / Math.min(...scale);
}

const COLUMNS: readonly ColumnSpec<WeightEntry>[] = [
  { name: 'name', title: 'Weight', rank: ({ name }) => name, cell: ({ name }) => <NameCell name={name} /> },
  { name: 'dtype', title: 'Type', hint: 'Data type of the integers', rank: ({ dtype }) => dtype, cell: ({ dtype }) => dtype },
  {
    name: 'channels',
    title: 'Scales',
    hint: '1: one scale for the whole tensor',
    numeric: true,
    first: 'down',
    rank: ({ scale }) => scale.length,
    cell: ({ scale }) => formatCount(scale.length),
  },
  {
    name: 'spread',
    title: 'Largest / smallest',
    hint: 'Ratio of the scales: what one scale for the whole tensor would cost the weakest channel',
    numeric: true,
    first: 'down',
    rank: spreadOf,
    cell: weight => (weight.scale.length < 2 ? '–' : formatNumber(spreadOf(weight))),
  },
  {
    name: 'sqnr',
    title: 'SQNR',
    hint: 'In dB, of the weight itself',
    numeric: true,
    rank: ({ sqnrDb }) => sqnrDb ?? undefined,
    cell: ({ sqnrDb }) => formatDb(sqnrDb),
  },
  {
    name: 'method',
    title: 'Method',
    hint: 'How the scales follow from the values',
    rank: ({ method }) => method,
    cell: ({ method }) => method,
  },
];

const [BAR, LEAST_WIDTH, MOST_WIDTH] = [9, 320, 1300];

function ChannelScales({ weight: { name, scale, zeroPoint, axis } }: { readonly weight: WeightEntry }) {
  const frame: Frame = {
    width: Math.max(LEAST_WIDTH, Math.min(MOST_WIDTH, 70 + scale.length * BAR)),
    height: 180,
    left: 60,
    right: 8,
    top: 10,
    bottom: 24,
  };
  const y = linearScale([0, Math.max(...scale)], [frame.height - frame.bottom, frame.top], 4);
  const step = (frame.width - frame.left - frame.right) / scale.length;
  return (
    <figure class="figure">
      <figcaption>
        Scales of <code>{plainText(name)}</code>
        {axis !== undefined && `, a bar per index of axis ${axis}`}
      </figcaption>
      <Chart
        label="Scales per channel"
        size={frame}
        class="chart histogram"
        summary={`${formatCount(scale.length)} scales from ${formatNumber(Math.min(...scale))} to ${formatNumber(Math.max(...scale))}`}
      >
        <AxisY frame={frame} scale={y} format={formatNumber} />
        {scale.map((value, index) => (
          <rect
            key={index}
            class="bar"
            x={frame.left + index * step}
            y={y(value)}
            width={Math.max(0.5, step - 1)}
            height={Math.max(0.5, frame.height - frame.bottom - y(value))}
          >
            <title>{`channel ${index}: scale ${formatNumber(value)}, zero point ${formatNumber(zeroPoint[index] ?? zeroPoint[0] ?? 0)}`}</title>
          </rect>
        ))}
      </Chart>
    </figure>
  );
}
