/** Own and propagated error of every value in graph order: where the signal is lost. */
import { formatDb } from '../../../report/numbers.js';
import { AxisY, Chart } from '../parts/chart.js';
import { linearScale } from '../parts/scale.js';
import { clip, plainText } from '../parts/text.js';
import { useWidth } from '../parts/use-width.js';
import type { Layer } from './layers.js';

interface ChartProps {
  readonly layers: readonly Layer[];
  readonly picked: string | undefined;
  /** Absent where a value has no panel. */
  readonly pick?: (name: string) => void;
}

const FRAME = { height: 210, left: 44, top: 12, bottom: 26, right: 10 };

/** Of the figure, on both sides together. */
const PADDING = 32;

/** Values without loss are drawn at the top. */
const MOST_DB = 60;

export function ErrorChart({ layers, picked, pick }: ChartProps) {
  const { place, width: room } = useWidth(1000);
  const known = layers.filter(({ own, propagated }) => own !== undefined || propagated !== undefined);
  if (known.length < 2) return null;
  // As wide as there is room, but for marks that would touch.
  const width = Math.max(60 + known.length * 6, Math.min(room - PADDING, 2200, 60 + known.length * 24), 300);
  const frame = { ...FRAME, width };
  const { height, left, top, bottom } = frame;
  const x = linearScale([0, known.length - 1], [left + 6, width - FRAME.right - 6]);
  const level = (db: number | null | undefined): number | undefined => (db === undefined ? undefined : Math.min(MOST_DB, db ?? MOST_DB));
  const levels = known.flatMap(({ own, propagated }) => [level(own), level(propagated)].filter(one => one !== undefined));
  const y = linearScale([Math.min(0, ...levels), Math.max(...levels) * 1.05], [height - bottom, top], 5);
  const line = known.flatMap(({ propagated }, index) => (propagated === undefined ? [] : [`${x(index)},${y(level(propagated) ?? 0)}`]));
  return (
    <div ref={place}>
      <figure class="figure">
        <figcaption>
          SQNR in dB, in graph order; lower is worse. <span class="info">● own</span> is the value quantized alone
          {line.length > 0 && (
            <>
              , <span class="warn">― propagated</span> the value in the quantized model
            </>
          )}
          . Lowest:{' '}
          {findLowest(known).map(({ name, propagated, own }, index) => (
            <span key={name}>
              {index > 0 && ', '}
              {pick === undefined ? (
                <code>{plainText(name)}</code>
              ) : (
                <button type="button" class="as-link mono" onClick={() => pick(name)}>
                  {plainText(name)}
                </button>
              )}{' '}
              <span class="one-line">{formatDb(propagated ?? own ?? null)} dB</span>
            </span>
          ))}
          .
        </figcaption>
        <Chart
          label="Errors in graph order"
          size={frame}
          summary={`Errors of ${known.length} values; the lowest propagated SQNR is ${formatDb(worst(known))} dB`}
        >
          <AxisY frame={frame} scale={y} format={String} />
          <polyline class="propagated" points={line.join(' ')} />
          {known.map(({ name, own, propagated, opType }, index) => (
            <g key={name} class={name === picked ? 'mark picked' : 'mark'} onClick={() => pick?.(name)}>
              <rect class="hit" x={x(index) - 6} y={top} width={12} height={height - top - bottom} />
              {propagated !== undefined && <circle class="propagated" cx={x(index)} cy={y(level(propagated) ?? 0)} r={2.5} />}
              {own !== undefined && <circle class="own" cx={x(index)} cy={y(level(own) ?? 0)} r={3} />}
              <title>{`${name} ${opType}\nown ${own === undefined ? '–' : formatDb(own)} dB\npropagated ${propagated === undefined ? '–' : formatDb(propagated)} dB`}</title>
            </g>
          ))}
          <text x={left} y={height - 8} class="soft-text">
            {clip(known[0]?.name ?? '', 40)}
          </text>
          <text x={width - FRAME.right} y={height - 8} text-anchor="end" class="soft-text">
            {clip(known.at(-1)?.name ?? '', 40)}
          </text>
        </Chart>
      </figure>
    </div>
  );
}

const MOST_NAMED = 4;

/** By the propagated error where some value has one, else by its own. */
function findLowest(layers: readonly Layer[]): readonly Layer[] {
  const kind = layers.some(({ propagated }) => typeof propagated === 'number') ? 'propagated' : 'own';
  return layers
    .filter(layer => typeof layer[kind] === 'number')
    .sort((a, b) => (a[kind] ?? 0) - (b[kind] ?? 0))
    .slice(0, MOST_NAMED);
}

function worst(layers: readonly Layer[]): number {
  return Math.min(...layers.map(({ propagated, own }) => propagated ?? own ?? MOST_DB));
}
