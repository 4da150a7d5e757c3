/** Two figures of all runs or configurations as a scatter, with those that no other one beats in both. */

import { formatFigure } from '../../../report/numbers.js';
import { setQuery, usePlace } from '../api/router.js';
import { AxisX, AxisY, Chart } from '../parts/chart.js';
import { Empty } from '../parts/notice.js';
import { pressedBy } from '../parts/press.js';
import { boundsOf, linearScale } from '../parts/scale.js';
import { Select } from '../parts/select.js';
import { type Goal, numberOf, type Point } from './point-axes.js';

interface AxesProps {
  readonly names: readonly string[];
  /** Before the names of these axes in the address. */
  readonly prefix: string;
  readonly goals: readonly [Goal, Goal];
}

export function ScatterAxes({ names, prefix, goals }: AxesProps) {
  const { query } = usePlace();
  return (
    <div class="tools">
      {(['x', 'y'] as const).map((axis, index) => (
        <AxisPicker key={axis} axis={axis} names={names} value={query[prefix + axis]} prefix={prefix} goal={goals[index] ?? 'most'} />
      ))}
    </div>
  );
}

const GOALS = [
  ['most', 'more is better'],
  ['least', 'less is better'],
] as const;

interface PickerProps extends Pick<AxesProps, 'names' | 'prefix'> {
  readonly axis: 'x' | 'y';
  readonly value: string | undefined;
  readonly goal: Goal;
}

function AxisPicker({ axis, names, value, prefix, goal }: PickerProps) {
  return (
    <span class="buttons">
      <Select
        label={axis === 'x' ? 'Across' : 'Up'}
        value={value ?? ''}
        choices={names}
        none="choose …"
        pick={name => setQuery({ [prefix + axis]: name || undefined }, 'replace')}
      />
      <Select
        label={<span class="sr">Better {axis === 'x' ? 'across' : 'up'}</span>}
        value={goal}
        choices={GOALS}
        pick={chosen => setQuery({ [`${prefix}g${axis}`]: chosen === 'least' ? 'least' : undefined }, 'replace')}
      />
    </span>
  );
}

interface ScatterProps {
  readonly points: readonly Point[];
  /** Names of points, from left to right. */
  readonly front: readonly string[];
  readonly names: readonly [string | undefined, string | undefined];
  readonly picked: readonly string[];
  readonly toggle: (name: string) => void;
}

interface Dot {
  readonly name: string;
  readonly x: number;
  readonly y: number;
}

const FRAME = { width: 720, height: 330, left: 64, bottom: 44, top: 22, right: 16 };

export function PointScatter({ points, front, names: [nameX, nameY], picked, toggle }: ScatterProps) {
  const dots = nameX === undefined || nameY === undefined ? [] : dotsOf(points, nameX, nameY);
  if (dots.length === 0) return <Empty>Choose a figure for each axis. What no other one beats in both is then joined by a line.</Empty>;
  const x = linearScale(boundsOf(dots.map(dot => dot.x)) ?? [0, 1], [FRAME.left, FRAME.width - FRAME.right]);
  const y = linearScale(boundsOf(dots.map(dot => dot.y)) ?? [0, 1], [FRAME.height - FRAME.bottom, FRAME.top]);
  const best = front.flatMap(name => dots.find(dot => dot.name === name) ?? []);
  return (
    <Chart
      label="Scatter"
      size={FRAME}
      role="group"
      summary={`${nameY} over ${nameX} of ${dots.length}; ${best.length} are on the Pareto front`}
    >
      <AxisX frame={FRAME} scale={x} />
      <AxisY frame={FRAME} scale={y} />
      <text x={(FRAME.left + FRAME.width) / 2} y={FRAME.height - 6} text-anchor="middle">
        {nameX}
      </text>
      <text x={FRAME.left} y={FRAME.top - 2} class="soft-text">
        {nameY}
      </text>
      <polyline class="front" points={best.map(dot => `${x(dot.x)},${y(dot.y)}`).join(' ')} />
      {dots.map(dot => (
        <circle
          key={dot.name}
          class={`dot${picked.includes(dot.name) ? ' picked' : ''}${front.includes(dot.name) ? ' best' : ''}`}
          cx={x(dot.x)}
          cy={y(dot.y)}
          r={5}
          role="button"
          tabindex={0}
          aria-pressed={picked.includes(dot.name)}
          aria-label={`${dot.name}: ${formatFigure(dot.x)}, ${formatFigure(dot.y)}`}
          onClick={() => toggle(dot.name)}
          onKeyDown={pressedBy(() => toggle(dot.name))}
        >
          <title>{`${dot.name}\n${nameX}: ${formatFigure(dot.x)}\n${nameY}: ${formatFigure(dot.y)}`}</title>
        </circle>
      ))}
    </Chart>
  );
}

function dotsOf(points: readonly Point[], nameX: string, nameY: string): readonly Dot[] {
  return points.flatMap(point => {
    const [x, y] = [numberOf(point, nameX), numberOf(point, nameY)];
    return x === undefined || y === undefined ? [] : [{ name: point.name, x, y }];
  });
}
