/** Charts: the region that scrolls, the drawing with its name, and the ticks of its axes. */
import type { ComponentChildren } from 'preact';
import { formatTick, type Scale } from './scale.js';
import { Scroll } from './scroll.js';

/** Size of a drawing, and the margins around what it plots, in pixels. */
export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

interface ChartProps {
  readonly label: string;
  readonly size: Pick<Frame, 'width' | 'height'>;
  /** What the drawing shows, for screen readers. */
  readonly summary: string;
  /** 'group': marks in it can be chosen. */
  readonly role?: 'img' | 'group';
  readonly class?: string;
  readonly children: ComponentChildren;
}

export function Chart({ label, size: { width, height }, summary, role = 'img', class: look = 'chart', children }: ChartProps) {
  return (
    <Scroll class={look} label={label}>
      <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} role={role} aria-label={summary}>
        {children}
      </svg>
    </Scroll>
  );
}

interface AxisProps {
  readonly frame: Frame;
  readonly scale: Scale;
  /** Default: all of the scale. */
  readonly ticks?: readonly number[];
  readonly format?: (tick: number) => string;
}

export function AxisX({ frame: { height, top, bottom }, scale, ticks = scale.ticks, format = tickOf(scale) }: AxisProps) {
  return (
    <>
      {ticks.map(tick => (
        <g key={tick} class="tick">
          <line x1={scale(tick)} x2={scale(tick)} y1={top} y2={height - bottom} />
          <text x={scale(tick)} y={height - bottom + 16} text-anchor="middle">
            {format(tick)}
          </text>
        </g>
      ))}
    </>
  );
}

export function AxisY({ frame: { width, left, right }, scale, ticks = scale.ticks, format = tickOf(scale) }: AxisProps) {
  return (
    <>
      {ticks.map(tick => (
        <g key={tick} class="tick">
          <line x1={left} x2={width - right} y1={scale(tick)} y2={scale(tick)} />
          <text x={left - 6} y={scale(tick) + 4} text-anchor="end">
            {format(tick)}
          </text>
        </g>
      ))}
    </>
  );
}

function tickOf({ ticks }: Scale): (tick: number) => string {
  return tick => formatTick(tick, ticks);
}
