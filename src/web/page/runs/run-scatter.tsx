/** Two figures of all runs or configurations as a scatter, with those that no other one beats in both. */

import { setQuery } from '../api/router.js';
import { isStatic } from '../api/saved.js';
import { AxisX, AxisY, Chart } from '../parts/chart.js';
import { Empty } from '../parts/notice.js';
import { pressedBy } from '../parts/press.js';
import { boundsOf, linearScale } from '../parts/scale.js';
import { Select } from '../parts/select.js';
import { clip, plainText } from '../parts/text.js';
import { type Dot, type DotGroup, describeGroup, groupDots } from './group-dots.js';
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

/** Ticks of other figures have as many digits as tell them apart. */
function formatOf(name: string | undefined) {
  return name === SIZE ? { format: (tick: number) => formatPoint(SIZE, tick) } : {};
}

const FRAME = { width: 720, height: 330, left: 64, bottom: 44, top: 34, right: 16 };

export function PointScatter({ points, front, names: [nameX, nameY], picked, toggle }: ScatterProps) {
  const dots = nameX === undefined || nameY === undefined ? [] : dotsOf(points, nameX, nameY);
  if (dots.length === 0) return <Empty>Choose a figure for each axis. What no other one beats in both is then joined by a line.</Empty>;
  const x = linearScale(boundsOf(dots.map(dot => dot.x)) ?? [0, 1], [FRAME.left, FRAME.width - FRAME.right]);
  const y = linearScale(boundsOf(dots.map(dot => dot.y)) ?? [0, 1], [FRAME.height - FRAME.bottom, FRAME.top]);
  const best = front.flatMap(name => dots.find(dot => dot.name === name) ?? []);
  const groups = groupDots(dots, x, y, front);
  const named = chooseNamed(best, x, y);
  const at = (dot: Dot): string => `translate(${x(dot.x)} ${y(dot.y)})`;
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
      <text x={FRAME.left} y={12} class="soft-text">
        {nameY}
      </text>
      <polyline class="front" points={best.map(dot => `${x(dot.x)},${y(dot.y)}`).join(' ')} />
      {groups.map(group => (
        <GroupDot
          key={group.shown.name}
          group={group}
          names={[nameX ?? '', nameY ?? '']}
          front={front}
          picked={picked}
          toggle={toggle}
          at={at}
        />
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

interface GroupProps extends Pick<ScatterProps, 'front' | 'picked' | 'toggle'> {
  readonly group: DotGroup;
  readonly names: readonly [string, string];
  /** The transform that moves to a dot. */
  readonly at: (dot: Dot) => string;
}

/** Points that lie on each other are one dot with their number. A press picks the shown one, or drops the last one that is picked. */
function GroupDot({ group, names, front, picked, toggle, at }: GroupProps) {
  const { shown, dots } = group;
  const [nameX, nameY] = names;
  const own = dots.filter(({ name }) => picked.includes(name));
  const isBest = front.includes(shown.name);
  const press = (): void => toggle((own.at(-1) ?? shown).name);
  const others = dots.length === 1 ? '' : `, and ${dots.length - 1} more here`;
  return (
    <>
      <path
        class={`dot${own.length > 0 ? ' picked' : ''}${isBest ? ' best' : ''}`}
        d={isBest ? DIAMOND : CIRCLE}
        transform={at(shown)}
        {...(isStatic
          ? {}
          : {
              role: 'button',
              tabindex: 0,
              'aria-pressed': own.length > 0,
              'aria-label': `${shown.name}: ${formatPoint(nameX, shown.x)}, ${formatPoint(nameY, shown.y)}${others}`,
              onClick: press,
              onKeyDown: pressedBy(press),
            })}
      >
        <title>{describeGroup(group, names).join('\n')}</title>
      </path>
      {dots.length > 1 && (
        <text class="soft-text" transform={at(shown)} x={9} y={4}>
          ×{dots.length}
        </text>
      )}
    </>
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
