/** The roofline of a model: work per byte of each unit, and its rate by the estimate, under peak and bandwidth. */
import { formatBytes } from '../../../base/text/format.js';
import { formatNumber } from '../../../report/numbers.js';
import { Empty } from '../parts/notice.js';
import { linearScale } from '../parts/scale.js';
import { Scroll } from '../parts/scroll.js';
import type { CompiledModel, Unit } from './compile-report.js';

interface RooflineProps {
  readonly model: CompiledModel;
  readonly picked: number | undefined;
  readonly pick: (id: number) => void;
}

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT] = [760, 300, 70, 42, 16, 16];

export function Roofline({ model: { units, estimate }, picked, pick }: RooflineProps) {
  const dots = units.flatMap(unit => dotOf(unit));
  if (dots.length === 0) return <Empty>No unit has both multiply-accumulates and an estimate.</Empty>;
  const constant = (name: string): number | undefined => estimate?.basis.constants.find(one => one.name === name)?.value;
  const [peak, bandwidth] = [constant('peak'), constant('bandwidth')];
  const xs = dots.map(({ intensity }) => Math.log10(intensity));
  const ys = [...dots.map(({ rate }) => Math.log10(rate)), ...(peak === undefined ? [] : [Math.log10(peak)])];
  const x = linearScale([Math.floor(Math.min(...xs)), Math.ceil(Math.max(...xs) + 0.01)], [LEFT, WIDTH - RIGHT], 6);
  const y = linearScale([Math.floor(Math.min(...ys)), Math.ceil(Math.max(...ys) + 0.01)], [HEIGHT - BOTTOM, TOP], 6);
  const whole = (ticks: readonly number[]): readonly number[] => ticks.filter(Number.isInteger);
  const [low = 0, high = 1] = [Math.floor(Math.min(...xs)), Math.ceil(Math.max(...xs) + 0.01)];
  const roof = (power: number): number =>
    Math.min(peak === undefined ? 99 : Math.log10(peak), bandwidth === undefined ? 99 : Math.log10(bandwidth) + power);
  const ridge = peak !== undefined && bandwidth !== undefined ? Math.log10(peak / bandwidth) : undefined;
  const corners = [low, ...(ridge !== undefined && ridge > low && ridge < high ? [ridge] : []), high];
  return (
    <figure class="figure">
      <Scroll class="chart" label="Roofline">
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} role="group" aria-label={`Roofline of ${dots.length} units`}>
          {whole(x.ticks).map(tick => (
            <g key={tick} class="tick">
              <line x1={x(tick)} x2={x(tick)} y1={TOP} y2={HEIGHT - BOTTOM} />
              <text x={x(tick)} y={HEIGHT - BOTTOM + 15} text-anchor="middle">
                {formatNumber(10 ** tick)}
              </text>
            </g>
          ))}
          {whole(y.ticks).map(tick => (
            <g key={tick} class="tick">
              <line x1={LEFT} x2={WIDTH - RIGHT} y1={y(tick)} y2={y(tick)} />
              <text x={LEFT - 6} y={y(tick) + 4} text-anchor="end">
                {formatNumber(10 ** (tick - 9))}
              </text>
            </g>
          ))}
          {peak !== undefined && bandwidth !== undefined && (
            <polyline class="roof" points={corners.map(power => `${x(power)},${y(roof(power))}`).join(' ')} />
          )}
          <text x={WIDTH / 2} y={HEIGHT - 8} text-anchor="middle" class="soft-text">
            MAC per byte
          </text>
          <text x={LEFT + 4} y={TOP - 4} class="soft-text">
            GMAC/s, estimated
          </text>
          {dots.map(({ unit, intensity, rate }) => (
            <circle
              key={unit.id}
              class={`dot ${unit.estimate?.bound ?? ''}${unit.id === picked ? ' picked' : ''}`}
              cx={x(Math.log10(intensity))}
              cy={y(Math.log10(rate))}
              r={4}
              role="button"
              tabindex={0}
              aria-label={unit.name}
              aria-pressed={unit.id === picked}
              onClick={() => pick(unit.id)}
              onKeyDown={event => event.key === 'Enter' && pick(unit.id)}
            >
              <title>{`${unit.opType} ${unit.name}\n${formatNumber(unit.macs)} MAC, ${formatBytes(unit.macs / intensity)}\n${formatNumber(unit.estimate?.ms ?? 0)} ms, bound by ${unit.estimate?.bound ?? '?'}`}</title>
            </circle>
          ))}
        </svg>
      </Scroll>
      <figcaption>The line is the peak of the device and its bandwidth. Blue units are bound by compute, orange ones by memory.</figcaption>
    </figure>
  );
}

function dotOf(unit: Unit): readonly { readonly unit: Unit; readonly intensity: number; readonly rate: number }[] {
  const bytes = unit.weightBytes + unit.inputBytes + unit.outputBytes;
  const ms = unit.estimate?.ms ?? 0;
  return unit.macs > 0 && bytes > 0 && ms > 0 ? [{ unit, intensity: unit.macs / bytes, rate: unit.macs / (ms / 1000) }] : [];
}
