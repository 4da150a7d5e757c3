/** Average precision of every side as bars. */
import { formatFixed } from '../../../report/numbers.js';
import { AxisY, Chart, type Frame } from '../parts/chart.js';
import { findCocoFigure } from '../parts/coco-figures.js';
import { linearScale } from '../parts/scale.js';
import { plainText } from '../parts/text.js';
import type { ReportResults } from './report-results.js';

interface BarsProps {
  readonly title: string;
  readonly kind: string;
  readonly metrics: ReportResults['metrics'];
}

const SHOWN = ['AP', 'AP50', 'AP75', 'APsmall', 'APmedium', 'APlarge'];

const TICKS = [0, 0.25, 0.5, 0.75, 1];

/** Bars of one figure stand beside each other, in the order of the sides. */
const [LEAST_BAR, MOST_BAR, GAP] = [14, 30, 28];

export function AccuracyBars({ title, kind, metrics }: BarsProps) {
  const bar = Math.max(LEAST_BAR, Math.min(MOST_BAR, 90 / metrics.length));
  const group = bar * metrics.length + GAP;
  const frame: Frame = { width: 48 + SHOWN.length * group, height: 200, left: 40, right: 8, top: 16, bottom: 24 };
  const y = linearScale([0, 1], [frame.height - frame.bottom, frame.top]);
  const sides = metrics.map(
    ({ name, value }) => `${name} ${SHOWN.map(figure => `${figure} ${textOf(findCocoFigure(value, kind, figure))}`).join(', ')}`,
  );
  return (
    <figure class="figure">
      <figcaption class="legend">
        {metrics.map(({ name }, index) => (
          <span key={name}>
            <span class={`key side-${index % SIDES}`} aria-hidden="true" /> {plainText(name)}
          </span>
        ))}
      </figcaption>
      <Chart label={`${title}: average precision`} size={frame} summary={plainText(`Bars of ${SHOWN.join(', ')}. ${sides.join('. ')}.`)}>
        <AxisY frame={frame} scale={y} ticks={TICKS} format={String} />
        {SHOWN.map((figure, place) => (
          <g key={figure} transform={`translate(${frame.left + GAP / 2 + place * group} 0)`}>
            <text class="soft-text" x={(bar * metrics.length) / 2} y={frame.height - 7} text-anchor="middle">
              {figure}
            </text>
            {metrics.map(({ name, value }, index) => {
              const own = findCocoFigure(value, kind, figure);
              if (own === undefined) return null;
              return (
                <g key={name} class={`bar side-${index % SIDES}`}>
                  <rect x={index * bar} y={y(own)} width={bar - 2} height={Math.max(0.5, y(0) - y(own))}>
                    <title>{plainText(`${name}, ${figure}: ${formatFixed(own, 4)}`)}</title>
                  </rect>
                  {bar >= 22 && (
                    <text class="soft-text" x={index * bar + bar / 2 - 1} y={y(own) - 4} text-anchor="middle">
                      {own.toFixed(3).replace(/^0/, '')}
                    </text>
                  )}
                </g>
              );
            })}
          </g>
        ))}
      </Chart>
    </figure>
  );
}

/** Colors of sides, in the style sheet. */
const SIDES = 8;

function textOf(figure: number | undefined): string {
  return figure === undefined ? 'none' : formatFixed(figure, 4);
}
