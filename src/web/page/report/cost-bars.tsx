/** The layers that cost most as bars: filled where the cost was measured, hollow where it is a share to first order. */
import { costOf, type LayerSensitivity } from '../../../quant/sensitivity/report-schema.js';
import { formatShare } from '../../../report/numbers.js';
import { AxisX, Chart, type Frame } from '../parts/chart.js';
import { linearScale } from '../parts/scale.js';
import { clip } from '../parts/text.js';

interface BarsProps {
  /** The most expensive first. */
  readonly layers: readonly LayerSensitivity[];
  readonly nameOf: (layer: LayerSensitivity) => string;
}

const SHOWN = 16;
const ROW = 20;

export function CostBars({ layers, nameOf }: BarsProps) {
  const shown = layers.slice(0, SHOWN);
  const [first] = shown;
  if (first === undefined) return null;
  const frame: Frame = { width: 720, height: 34 + shown.length * ROW, left: 236, right: 64, top: 6, bottom: 28 };
  const costs = shown.map(costOf);
  const x = linearScale([Math.min(0, ...costs), Math.max(0, ...costs)], [frame.left, frame.width - frame.right]);
  return (
    <figure class="figure">
      <figcaption>
        The {shown.length} most expensive layers. <span class="warn">■ measured</span> <span class="info">□ first-order share</span>
      </figcaption>
      <Chart
        label="Cost per layer"
        size={frame}
        summary={`Cost of the ${shown.length} most expensive of ${layers.length} layers. First: ${nameOf(first)}, ${formatShare(costOf(first))}`}
      >
        <AxisX frame={frame} scale={x} format={formatShare} />
        {shown.map((layer, index) => {
          const [cost, top] = [costOf(layer), frame.top + index * ROW];
          const [from, to] = [x(Math.min(0, cost)), x(Math.max(0, cost))];
          return (
            <g key={layer.values.join(' ')} class={`cost ${layer.alone === undefined ? 'first-order' : 'measured'}`}>
              <title>{`${nameOf(layer)}: ${formatShare(cost)}, ${layer.alone === undefined ? 'share to first order' : 'measured'}`}</title>
              <text class="soft-text" x={frame.left - 8} y={top + 13} text-anchor="end">
                {clip(nameOf(layer), 36)}
              </text>
              <rect x={from} y={top + 3} width={Math.max(1, to - from)} height={ROW - 7} />
              <text class="soft-text" x={to + 5} y={top + 13}>
                {formatShare(cost)}
              </text>
            </g>
          );
        })}
      </Chart>
    </figure>
  );
}
