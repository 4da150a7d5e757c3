/** The histogram of a value on a logarithmic scale, with what saturates and the steps of the integers. */
import { useState } from 'preact/hooks';
import type { ActivationEntry } from '../../../quant/report/report-entries.js';
import { type GridHistogram, makeBars } from '../../../report/bars.js';
import { formatCount, formatNumber } from '../../../report/numbers.js';
import { linearScale } from '../parts/scale.js';
import { Scroll } from '../parts/scroll.js';
import { chooseGridLines } from './grid-lines.js';

const [WINDOW, HEIGHT, LEFT, BOTTOM, TOP, RIGHT] = [460, 210, 10, 26, 26, 10];

/** How many times as wide as its frame the drawing is. */
const ZOOMS = [1, 4, 16] as const;

/** Bars in the width of the frame. */
const MOST_BARS = 120;

export function Histogram({
  histograms,
  activation,
}: {
  readonly histograms: readonly GridHistogram[];
  readonly activation: ActivationEntry | undefined;
}) {
  const [zoom, setZoom] = useState<(typeof ZOOMS)[number]>(1);
  const WIDTH = WINDOW * zoom;
  const { width, first, counts } = makeBars(histograms, MOST_BARS * zoom);
  const [least, most] = [first * width, (first + counts.length) * width];
  const [low, high] = activation === undefined ? [least, most] : [activation.range[0] ?? least, activation.range[1] ?? most];
  const x = linearScale([Math.min(low, least), Math.max(high, most)], [LEFT, WIDTH - RIGHT], 5 * zoom);
  const top = Math.log10(Math.max(...counts) + 1);
  const y = linearScale([0, top], [HEIGHT - BOTTOM, TOP]);
  const step = activation?.scale ?? 0;
  const steps = step > 0 ? Math.round((high - low) / step) : 0;
  const lines = chooseGridLines(steps, x(high) - x(low));
  const total = counts.reduce((sum, count) => sum + count, 0);
  return (
    <figure class="figure">
      <fieldset class="choice">
        <legend class="sr">Zoom of the histogram</legend>
        {ZOOMS.map(one => (
          <button type="button" key={one} aria-pressed={one === zoom} onClick={() => setZoom(one)}>
            × {one}
          </button>
        ))}
      </fieldset>
      <Scroll class="scroll" label="Histogram">
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          class={`histogram zoom-${zoom}`}
          role="img"
          aria-label={`Histogram of ${formatCount(total)} elements from ${formatNumber(least)} to ${formatNumber(most)}; range ${formatNumber(low)} to ${formatNumber(high)}`}
        >
          <rect class="outside" x={LEFT} y={TOP} width={Math.max(0, x(low) - LEFT)} height={HEIGHT - TOP - BOTTOM} />
          <rect class="outside" x={x(high)} y={TOP} width={Math.max(0, WIDTH - RIGHT - x(high))} height={HEIGHT - TOP - BOTTOM} />
          {lines.indexes.map(index => (
            <line key={index} class="grid" x1={x(low + index * step)} x2={x(low + index * step)} y1={TOP} y2={HEIGHT - BOTTOM} />
          ))}
          {[...counts].map((count, index) => {
            if (count === 0) return null;
            const from = (first + index) * width;
            const isOut = from + width <= low || from >= high;
            const height = y(Math.log10(count + 1));
            return (
              <rect
                key={index}
                class={isOut ? 'bar out' : 'bar'}
                x={x(from)}
                y={height}
                width={Math.max(0.7, x(from + width) - x(from) - 0.4)}
                height={HEIGHT - BOTTOM - height}
              >
                <title>{`${formatNumber(from)} … ${formatNumber(from + width)}: ${formatCount(count)}`}</title>
              </rect>
            );
          })}
          {[low, high].map((bound, index) => (
            <g key={index}>
              <line class="bound" x1={x(bound)} x2={x(bound)} y1={TOP - 6} y2={HEIGHT - BOTTOM} />
              <text x={Math.min(WIDTH - RIGHT, Math.max(LEFT, x(bound)))} y={TOP - 10} text-anchor={index === 0 ? 'start' : 'end'}>
                {formatNumber(bound)}
              </text>
            </g>
          ))}
          {x.ticks.map(tick => (
            <text key={tick} class="soft-text" x={x(tick)} y={HEIGHT - 8} text-anchor="middle">
              {formatNumber(tick)}
            </text>
          ))}
        </svg>
      </Scroll>
      <figcaption>
        {formatCount(total)} elements, logarithmic.{' '}
        {activation === undefined
          ? 'The value is not quantized.'
          : `${formatCount(steps)} steps of ${formatNumber(step)} between the bounds; beyond them values saturate. ${describeLines(lines.every, steps, zoom)}`}
      </figcaption>
    </figure>
  );
}

function describeLines(every: number, steps: number, zoom: number): string {
  if (steps === 0) return '';
  if (every === 1) return 'Each integer has a line.';
  return `Every ${every === 2 ? 'second' : `${formatCount(every)}th`} integer has a line${zoom === ZOOMS.at(-1) ? '' : '; zoom in to see more'}.`;
}
