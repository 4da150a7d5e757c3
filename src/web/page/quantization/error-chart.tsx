/** Own and propagated error of every value in graph order: where the signal is lost. */
import { formatDb } from '../../../report/numbers.js';
import { linearScale } from '../parts/scale.js';
import { Scroll } from '../parts/scroll.js';
import { clip } from '../parts/text.js';
import type { Layer } from './layers.js';

interface ChartProps {
  readonly layers: readonly Layer[];
  readonly picked: string | undefined;
  readonly pick: (name: string) => void;
}

const [HEIGHT, LEFT, TOP, BOTTOM, RIGHT] = [210, 44, 12, 26, 10];

/** Values without loss are drawn at the top. */
const MOST_DB = 60;

export function ErrorChart({ layers, picked, pick }: ChartProps) {
  const known = layers.filter(({ own, propagated }) => own !== undefined || propagated !== undefined);
  if (known.length < 2) return null;
  const width = Math.max(640, Math.min(1400, 60 + known.length * 12));
  const x = linearScale([0, known.length - 1], [LEFT + 6, width - RIGHT - 6]);
  const level = (db: number | null | undefined): number | undefined => (db === undefined ? undefined : Math.min(MOST_DB, db ?? MOST_DB));
  const levels = known.flatMap(({ own, propagated }) => [level(own), level(propagated)].filter(one => one !== undefined));
  const y = linearScale([Math.min(0, ...levels), Math.max(...levels) * 1.05], [HEIGHT - BOTTOM, TOP], 5);
  const line = known.flatMap(({ propagated }, index) => (propagated === undefined ? [] : [`${x(index)},${y(level(propagated) ?? 0)}`]));
  return (
    <figure class="figure">
      <figcaption>
        SQNR in dB, in graph order; lower is worse. <span class="info">● own</span> is the value quantized alone,{' '}
        <span class="warn">― propagated</span> the value in the quantized model.
      </figcaption>
      <Scroll class="chart" label="Errors in graph order">
        <svg
          viewBox={`0 0 ${width} ${HEIGHT}`}
          width={width}
          height={HEIGHT}
          role="img"
          aria-label={`Errors of ${known.length} values; the lowest propagated SQNR is ${formatDb(worst(known))} dB`}
        >
          {y.ticks.map(tick => (
            <g key={tick} class="tick">
              <line x1={LEFT} x2={width - RIGHT} y1={y(tick)} y2={y(tick)} />
              <text x={LEFT - 6} y={y(tick) + 4} text-anchor="end">
                {tick}
              </text>
            </g>
          ))}
          <polyline class="propagated" points={line.join(' ')} />
          {known.map(({ name, own, propagated, opType }, index) => (
            <g key={name} class={name === picked ? 'mark picked' : 'mark'} onClick={() => pick(name)}>
              <rect class="hit" x={x(index) - 6} y={TOP} width={12} height={HEIGHT - TOP - BOTTOM} />
              {propagated !== undefined && <circle class="propagated" cx={x(index)} cy={y(level(propagated) ?? 0)} r={2.5} />}
              {own !== undefined && <circle class="own" cx={x(index)} cy={y(level(own) ?? 0)} r={3} />}
              <title>{`${name} ${opType}\nown ${own === undefined ? '–' : formatDb(own)} dB\npropagated ${propagated === undefined ? '–' : formatDb(propagated)} dB`}</title>
            </g>
          ))}
          <text x={LEFT} y={HEIGHT - 8} class="soft-text">
            {clip(known[0]?.name ?? '', 40)}
          </text>
          <text x={width - RIGHT} y={HEIGHT - 8} text-anchor="end" class="soft-text">
            {clip(known.at(-1)?.name ?? '', 40)}
          </text>
        </svg>
      </Scroll>
    </figure>
  );
}

function worst(layers: readonly Layer[]): number {
  return Math.min(...layers.map(({ propagated, own }) => propagated ?? own ?? MOST_DB));
}
