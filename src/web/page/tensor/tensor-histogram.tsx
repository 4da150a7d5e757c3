/** Histograms of one channel, or of both sides, over the same bins. */
import { formatCount, formatNumber } from '../../../report/numbers.js';
import { Chart } from '../parts/chart.js';
import { linearScale } from '../parts/scale.js';
import { countBins, extentOf } from './tensor-data.js';

interface HistogramProps {
  readonly own: Float32Array;
  readonly other: Float32Array | undefined;
  readonly names: readonly [string, string];
}

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM, BINS] = [640, 190, 12, 12, 10, 24, 80];

export function TensorHistogram({ own, other, names }: HistogramProps) {
  const extents = [own, ...(other === undefined ? [] : [other])].map(extentOf);
  const bounds = { min: Math.min(...extents.map(({ min }) => min)), max: Math.max(...extents.map(({ max }) => max)) };
  const counts = countBins(own, bounds, BINS);
  const others = other === undefined ? undefined : countBins(other, bounds, BINS);
  const x = linearScale([bounds.min, bounds.max], [LEFT, WIDTH - RIGHT], 6);
  const y = linearScale([0, Math.log10(Math.max(...counts, ...(others ?? [])) + 1)], [HEIGHT - BOTTOM, TOP]);
  const step = (WIDTH - LEFT - RIGHT) / BINS;
  const stairs = (others ?? []).map((count, bin) => `H${LEFT + bin * step}V${y(Math.log10(count + 1))}`).join('');
  return (
    <figure class="figure">
      <Chart
        label="Histogram"
        size={{ width: WIDTH, height: HEIGHT }}
        class="chart histogram"
        summary={`Histogram of ${formatCount(own.length)} elements from ${formatNumber(bounds.min)} to ${formatNumber(bounds.max)}`}
      >
        {counts.map((count, bin) =>
          count === 0 ? null : (
            <rect
              key={bin}
              class="bar"
              x={LEFT + bin * step}
              y={y(Math.log10(count + 1))}
              width={Math.max(0.5, step - 0.5)}
              height={HEIGHT - BOTTOM - y(Math.log10(count + 1))}
            >
              <title>{`${formatNumber(bounds.min + (bin * (bounds.max - bounds.min)) / BINS)} …: ${formatCount(count)}${others === undefined ? '' : `, ${names[1]}: ${formatCount(others[bin] ?? 0)}`}`}</title>
            </rect>
          ),
        )}
        {others !== undefined && <path class="stairs" d={`M${LEFT} ${HEIGHT - BOTTOM}${stairs}H${WIDTH - RIGHT}V${HEIGHT - BOTTOM}`} />}
        {x.ticks.map(tick => (
          <text key={tick} class="soft-text" x={x(tick)} y={HEIGHT - 8} text-anchor="middle">
            {formatNumber(tick)}
          </text>
        ))}
      </Chart>
      <figcaption>
        Logarithmic. Bars are {names[0]}
        {others !== undefined && <>; the line is {names[1]}</>}.
      </figcaption>
    </figure>
  );
}
