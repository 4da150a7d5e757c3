/** The roofline of a model: work per byte of each unit, and its rate by the estimate, under peak and bandwidth. */

import { formatBytes } from '../../../base/text/format.js';
import { formatCount, formatNumber } from '../../../report/numbers.js';
import { boundOf } from '../../../target/estimate/layer-rows.js';
import { AxisX, AxisY, Chart } from '../parts/chart.js';
import { Empty } from '../parts/notice.js';
import { pressedBy } from '../parts/press.js';
import { linearScale } from '../parts/scale.js';
import { BOUNDS, SHAPES, wordsOfBound } from './bounds.js';
import type { CompiledModel, Unit } from './compile-report.js';

interface RooflineProps {
  readonly model: CompiledModel;
  readonly picked: number | undefined;
  readonly pick: (id: number) => void;
}

const FRAME = { width: 760, height: 300, left: 70, bottom: 42, top: 16, right: 16 };

export function Roofline({ model: { units, estimate }, picked, pick }: RooflineProps) {
  const dots = units.flatMap(unit => dotOf(unit));
  if (dots.length === 0) return <Empty>No unit has both multiply-accumulates and an estimate.</Empty>;
  const constant = (name: string): number | undefined => estimate?.basis.constants.find(one => one.name === name)?.value;
  const [peak, bandwidth] = [constant('peak'), constant('bandwidth')];
  const xs = dots.map(({ intensity }) => Math.log10(intensity));
  const ys = [...dots.map(({ rate }) => Math.log10(rate)), ...(peak === undefined ? [] : [Math.log10(peak)])];
  const x = linearScale([Math.floor(Math.min(...xs)), Math.ceil(Math.max(...xs) + 0.01)], [FRAME.left, FRAME.width - FRAME.right], 6);
  const y = linearScale([Math.floor(Math.min(...ys)), Math.ceil(Math.max(...ys) + 0.01)], [FRAME.height - FRAME.bottom, FRAME.top], 6);
  const [low = 0, high = 1] = [Math.floor(Math.min(...xs)), Math.ceil(Math.max(...xs) + 0.01)];
  const roof = (power: number): number =>
    Math.min(peak === undefined ? 99 : Math.log10(peak), bandwidth === undefined ? 99 : Math.log10(bandwidth) + power);
  const ridge = peak !== undefined && bandwidth !== undefined ? Math.log10(peak / bandwidth) : undefined;
  const corners = [low, ...(ridge !== undefined && ridge > low && ridge < high ? [ridge] : []), high];
  return (
    <figure class="figure">
      <Chart label="Roofline" size={FRAME} role="group" summary={`Roofline of ${dots.length} units`}>
        <AxisX frame={FRAME} scale={x} ticks={x.ticks.filter(Number.isInteger)} format={power => formatNumber(10 ** power)} />
        <AxisY frame={FRAME} scale={y} ticks={y.ticks.filter(Number.isInteger)} format={power => formatNumber(10 ** (power - 9))} />
        {peak !== undefined && bandwidth !== undefined && (
          <polyline class="roof" points={corners.map(power => `${x(power)},${y(roof(power))}`).join(' ')} />
        )}
        <text x={FRAME.width / 2} y={FRAME.height - 8} text-anchor="middle" class="soft-text">
          MAC per byte
        </text>
        <text x={FRAME.left + 4} y={FRAME.top - 4} class="soft-text">
          GMAC/s, estimated
        </text>
        {dots.map(({ unit, intensity, rate }) => (
          <path
            key={unit.id}
            class={`dot ${boundOf(unit) ?? ''}${unit.id === picked ? ' picked' : ''}`}
            d={SHAPES[boundOf(unit) ?? 'compute']}
            transform={`translate(${x(Math.log10(intensity))} ${y(Math.log10(rate))})`}
            role="button"
            tabindex={0}
            aria-label={unit.name}
            aria-pressed={unit.id === picked}
            onClick={() => pick(unit.id)}
            onKeyDown={pressedBy(() => pick(unit.id))}
          >
            <title>{`${unit.opType} ${unit.name}\n${formatCount(unit.macs)} MAC, ${formatBytes(unit.macs / intensity)}\n${formatNumber(unit.estimate?.ms ?? 0)} ms, bound by ${wordsOfBound(unit)}`}</title>
          </path>
        ))}
      </Chart>
      <figcaption>
        The line is the peak of the device and its bandwidth. A unit far below it is short, or its channels do not fill the array. Bound by:{' '}
        {BOUNDS.map(({ bound, sign, look, words }) => (
          <span key={bound} class={look}>
            {sign} {words}{' '}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

function dotOf(unit: Unit): readonly { readonly unit: Unit; readonly intensity: number; readonly rate: number }[] {
  const bytes = unit.weightBytes + unit.inputBytes + unit.outputBytes;
  const ms = unit.estimate?.ms ?? 0;
  return unit.macs > 0 && bytes > 0 && ms > 0 ? [{ unit, intensity: unit.macs / bytes, rate: unit.macs / (ms / 1000) }] : [];
}
