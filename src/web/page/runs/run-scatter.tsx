/** Two figures of all runs or configurations as a scatter, with those that no other one beats in both. */

import { setQuery } from '../api/router.js';
import { isStatic } from '../api/saved.js';
import { AxisX, AxisY, Chart } from '../parts/chart.js';
import { Empty } from '../parts/notice.js';
import { pressedBy } from '../parts/press.js';
import { boundsOf, linearScale } from '../parts/scale.js';
import { Select } from '../parts/select.js';
import { clip, plainText } from '../parts/text.js';
import { formatPoint, type Goal, numberOf, type Point, type ScatterFigures, SIZE } from './point-axes.js';

interface AxesProps {
  readonly names: readonly string[];
  readonly chosen: ScatterFigures;
  /** What is chosen where the address says nothing. */
  readonly first: ScatterFigures | undefined;
  /** Before the names of these axes in the address. */
  readonly prefix: string;
}

export function ScatterAxes({ names, chosen, first, prefix }: AxesProps) {
  return (
    <div class="tools">
      {(['x', 'y'] as const).map((axis, index) => (
        <AxisPicker
          key={axis}
          axis={axis}
          names={names}
          value={chosen[axis]}
          prefix={prefix}
          goal={chosen.goals[index] ?? 'most'}
          first={{ name: first?.[axis], goal: first?.goals[index] ?? 'most' }}
        />
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
  readonly first: { readonly name: string | undefined; readonly goal: Goal };
}

function AxisPicker({ axis, names, value, prefix, goal, first }: PickerProps) {
  return (
    <span class="buttons">
      <Select
        label={axis === 'x' ? 'Across' : 'Up'}
        value={value ?? ''}
        choices={names}
        {...(first.name === undefined ? { none: 'choose …' } : {})}
        pick={name => setQuery({ [prefix + axis]: name === '' || name === first.name ? undefined : name }, 'replace')}
      />
      <Select
        label={<span class="sr">Better {axis === 'x' ? 'across' : 'up'}</span>}
        value={goal}
        choices={GOALS}
        pick={chosen => setQuery({ [`${prefix}g${axis}`]: chosen === first.goal ? undefined : chosen }, 'replace')}
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
  readonly label: string;
  readonly x: number;
  readonly y: number;
}

/** Ticks of other figures have as many digits as tell them apart. */
function formatOf(name: string | undefined) {
  return name === SIZE ? { format: (tick: number) => formatPoint(SIZE, tick) } : {};
}

const FRAME = { width: 720, height: 330, left: 64, bottom: 44, top: 22, right: 16 };

export function PointScatter({ points, front, names: [nameX, nameY], picked, toggle }: ScatterProps) {
  const dots = nameX === undefined || nameY === undefined ? [] : dotsOf(points, nameX, nameY);
  if (dots.length === 0) return <Empty>Choose a figure for each axis. What no other one beats in both is then joined by a line.</Empty>;
  const x = linearScale(boundsOf(dots.map(dot => dot.x)) ?? [0, 1], [FRAME.left, FRAME.width - FRAME.right]);
  const y = linearScale(boundsOf(dots.map(dot => dot.y)) ?? [0, 1], [FRAME.height - FRAME.bottom, FRAME.top]);
  const best = front.flatMap(name => dots.find(dot => dot.name === name) ?? []);
  const named = chooseNamed(best, x, y);
  return (
    <Chart
      label="Scatter"
      size={FRAME}
      role="group"
      summary={`${nameY} over ${nameX} of ${dots.length}; ${best.length} are on the Pareto front`}
    >
      <AxisX frame={FRAME} scale={x} {...formatOf(nameX)} />
      <AxisY frame={FRAME} scale={y} {...formatOf(nameY)} />
      <text x={(FRAME.left + FRAME.width) / 2} y={FRAME.height - 6} text-anchor="middle">
        {nameX}
      </text>
      <text x={FRAME.left} y={FRAME.top - 2} class="soft-text">
        {nameY}
      </text>
      <polyline class="front" points={best.map(dot => `${x(dot.x)},${y(dot.y)}`).join(' ')} />
      {dots.map(dot => (
        <path
          key={dot.name}
          class={`dot${picked.includes(dot.name) ? ' picked' : ''}${front.includes(dot.name) ? ' best' : ''}`}
          d={front.includes(dot.name) ? DIAMOND : CIRCLE}
          transform={`translate(${x(dot.x)} ${y(dot.y)})`}
          {...(isStatic
            ? {}
            : {
                role: 'button',
                tabindex: 0,
                'aria-pressed': picked.includes(dot.name),
                'aria-label': `${dot.name}: ${formatPoint(nameX ?? '', dot.x)}, ${formatPoint(nameY ?? '', dot.y)}`,
                onClick: () => toggle(dot.name),
                onKeyDown: pressedBy(() => toggle(dot.name)),
              })}
        >
          <title>{`${dot.name}${dot.label === dot.name ? '' : ` ${dot.label}`}\n${nameX}: ${formatPoint(nameX ?? '', dot.x)}\n${nameY}: ${formatPoint(nameY ?? '', dot.y)}`}</title>
        </path>
      ))}
      {named.map(dot => (
        <text
          key={`name ${dot.name}`}
          class="soft-text"
          x={x(dot.x)}
          y={y(dot.y) - 9}
          text-anchor={x(dot.x) > FRAME.width - ROOM ? 'end' : x(dot.x) < FRAME.left + ROOM ? 'start' : 'middle'}
        >
          {clip(dot.label, LONGEST)}
        </text>
      ))}
    </Chart>
  );
}

const CIRCLE = 'M-5 0A5 5 0 1 1 5 0A5 5 0 1 1-5 0Z';
const DIAMOND = 'M0-7L7 0L0 7L-7 0Z';

/** Characters of a name, half of its width, and how many points of the front are named. */
const [LONGEST, ROOM, MOST_NAMED] = [28, 90, 8];

/** Those whose names do not lie over each other, from left to right. */
function chooseNamed(best: readonly Dot[], x: (value: number) => number, y: (value: number) => number): readonly Dot[] {
  const named: Dot[] = [];
  for (const dot of best) {
    const isFree = named.every(other => Math.abs(x(other.x) - x(dot.x)) > ROOM || Math.abs(y(other.y) - y(dot.y)) > 13);
    if (isFree && named.length < MOST_NAMED) named.push(dot);
  }
  return named;
}

function dotsOf(points: readonly Point[], nameX: string, nameY: string): readonly Dot[] {
  return points.flatMap(point => {
    const [x, y] = [numberOf(point, nameX), numberOf(point, nameY)];
    return x === undefined || y === undefined ? [] : [{ name: point.name, label: plainText(point.label ?? point.name), x, y }];
  });
}
