/** The parts of a model as a graph: where each runs, what it moves, and which parts it waits for. */
import { useMemo } from 'preact/hooks';
import { formatBytes } from '../../../base/text/format.js';
import { formatCount } from '../../../report/numbers.js';
import { ApiError } from '../api/client.js';
import { DrawnGraph } from '../parts/graph/drawn-graph.js';
import type { GraphOrder } from '../parts/graph/graph-types.js';
import { useLayout } from '../parts/graph/use-layout.js';
import { Empty, Failed } from '../parts/notice.js';
import { pressedBy } from '../parts/press.js';
import { clip, plainText } from '../parts/text.js';
import type { CompiledModel } from './compile-report.js';

type Part = CompiledModel['parts'][number];

interface GraphProps {
  readonly parts: readonly Part[];
  /** Index of the part whose units the table shows. */
  readonly picked: number | undefined;
  readonly pick: (index: number) => void;
}

const [HEIGHT, WIDTH, PADDING, LONGEST] = [64, 170, 14, 20];

/** More parts are in the table alone. */
const MOST = 300;

/** Nothing for a model of one part. */
export function PartsGraph({ parts, picked, pick }: GraphProps) {
  if (parts.length < 2) return null;
  if (parts.length > MOST) return <Empty>{`${formatCount(parts.length)} parts are too many for a drawing; the table has them.`}</Empty>;
  return <DrawnParts parts={parts} picked={picked} pick={pick} />;
}

function DrawnParts({ parts, picked, pick }: GraphProps) {
  const order = useMemo<GraphOrder>(
    () => ({
      nodes: parts.map(({ index }) => ({ id: String(index), width: WIDTH, height: HEIGHT })),
      edges: parts.flatMap(({ index, dependsOn }) => dependsOn.map(from => ({ from: String(from), to: String(index) }))),
      direction: 'right',
      gaps: { rank: 34, node: 12 },
    }),
    [parts],
  );
  const layout = useLayout(order);
  if (layout instanceof ApiError) return <Failed error={layout} />;
  if (layout === undefined) return <Empty>Laying out the parts …</Empty>;
  return (
    <DrawnGraph
      label="Graph of parts"
      summary={`Graph of ${parts.length} parts`}
      layout={layout}
      edges={order.edges}
      picked={picked === undefined ? undefined : String(picked)}
    >
      {parts.map(part => {
        const { x, y } = layout.places[part.index] ?? { x: 0, y: 0 };
        return (
          <g
            key={part.index}
            class={`box ${part.device === 'npu' ? 'good' : 'warn'}${part.index === picked ? ' picked' : ''}`}
            transform={`translate(${x - WIDTH / 2} ${y - HEIGHT / 2})`}
          >
            <PartBox part={part} isPicked={part.index === picked} pick={pick} />
          </g>
        );
      })}
    </DrawnGraph>
  );
}

function PartBox({ part, isPicked, pick }: { readonly part: Part; readonly isPicked: boolean; readonly pick: GraphProps['pick'] }) {
  const { index, name, device, nodes, units, transferBytes, memory } = part;
  const lines = [`${device === 'npu' ? '█ NPU' : '▄ CPU'} · ${formatCount(nodes)} nodes`, `moves ${formatBytes(transferBytes)}`];
  const more = [`${formatCount(units.length)} units`, ...(memory === undefined ? [] : [`memory ${formatBytes(memory.peakBytes)}`])];
  const press = (): void => pick(index);
  return (
    <>
      <rect class="body" width={WIDTH} height={HEIGHT} rx={6} />
      <rect class="strip" width={4} height={HEIGHT} rx={2} />
      <text class="title" x={PADDING} y={20}>
        {clip(plainText(name), LONGEST)}
      </text>
      <text class="state" x={PADDING} y={37}>
        {lines[0]}
      </text>
      <text class="outcome" x={PADDING} y={54}>
        {lines[1]}
      </text>
      <rect
        class="press"
        width={WIDTH}
        height={HEIGHT}
        rx={6}
        role="button"
        tabindex={0}
        aria-pressed={isPicked}
        aria-label={plainText(`Part ${name}: ${[...lines, ...more].join(', ')}`)}
        onClick={press}
        onKeyDown={pressedBy(press)}
      >
        <title>{plainText([name, ...lines, ...more, isPicked ? 'click: all units again' : 'click: its units alone'].join('\n'))}</title>
      </rect>
    </>
  );
}
