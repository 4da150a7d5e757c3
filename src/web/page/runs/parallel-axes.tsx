/** Runs or configurations as lines over parallel axes: one axis per parameter that differs, and one per figure. */
import { Chart } from '../parts/chart.js';
import { clip, plainText } from '../parts/text.js';
import { findOwnPlace, groupLines, type LineGroup, nameLine } from './group-lines.js';
import { formatPoint, type Point, type PointAxis } from './point-axes.js';

interface ParallelProps {
  readonly points: readonly Point[];
  readonly axes: readonly PointAxis[];
  /** Names of the points of the Pareto front. */
  readonly front: readonly string[];
  readonly picked: readonly string[];
  readonly toggle: (name: string) => void;
}

const [HEIGHT, TOP, BOTTOM, LEFT, STEP] = [300, 34, 26, 70, 150] as const;

/** Values of an axis that are written. */
const MOST_WRITTEN = 12;

/** The table has every run, so the lines are for the eye and the pointer alone. */
export function ParallelAxes({ points, axes, front, picked, toggle }: ParallelProps) {
  if (axes.length < 2 || points.length < 2) return null;
  const width = LEFT * 2 + (axes.length - 1) * STEP;
  const x = (index: number): number => LEFT + index * STEP;
  const y = (share: number): number => HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP);
  // Picked lines and those of the front are drawn over the others.
  const layer = ({ points: own, shown }: LineGroup): number =>
    own.some(({ name }) => picked.includes(name)) ? 2 : front.includes(shown.name) ? 1 : 0;
  const groups = groupLines(points, axes, { x, y }, front);
  const ordered = [...groups].sort((a, b) => layer(a) - layer(b));
  return (
    <Chart
      label="Parallel axes"
      class="chart parallel"
      size={{ width, height: HEIGHT }}
      summary={`${points.length} lines over ${axes.length} axes: ${axes.map(({ name }) => name).join(', ')}`}
    >
      {ordered.map(group => (
        <GroupLine key={group.shown.name} group={group} axes={axes} front={front} picked={picked} toggle={toggle} />
      ))}
      {axes.map((axis, index) => (
        <Axis key={axis.name} axis={axis} x={x(index)} y={y} />
      ))}
      {groups.map(group => (
        <GroupCount key={`count ${group.shown.name}`} group={group} groups={groups} />
      ))}
    </Chart>
  );
}

interface GroupLineProps extends Omit<ParallelProps, 'points'> {
  readonly group: LineGroup;
}

/** A press picks the shown point, or drops the last one that is picked. */
function GroupLine({ group, axes, front, picked, toggle }: GroupLineProps) {
  const { shown, points, places } = group;
  const own = points.filter(({ name }) => picked.includes(name));
  return (
    <polyline
      class={`line${front.includes(shown.name) ? ' best' : ''}${own.length > 0 ? ' picked' : ''}`}
      points={places.join(' ')}
      onClick={() => toggle((own.at(-1) ?? shown).name)}
    >
      <title>{[...nameLine(group), ...axes.map(axis => `${axis.name}: ${valueOn(axis, shown)}`)].join('\n')}</title>
    </polyline>
  );
}

/** The number of points of a line, left of one of its places. */
function GroupCount({ group, groups }: { readonly group: LineGroup; readonly groups: readonly LineGroup[] }) {
  const [x, y] = findOwnPlace(group, groups)?.split(',').map(Number) ?? [];
  if (group.points.length < 2 || x === undefined || y === undefined) return null;
  return (
    <text class="soft-text count" x={x - 6} y={y - 4} text-anchor="end">
      ×{group.points.length}
    </text>
  );
}

function valueOn(axis: PointAxis, { params, figures }: Point): string {
  const figure = figures[axis.name];
  if (figure !== undefined) return formatPoint(axis.name, figure);
  const value = params[axis.name];
  return value === undefined ? '–' : typeof value === 'string' ? plainText(value) : JSON.stringify(value);
}

function Axis({ axis, x, y }: { readonly axis: PointAxis; readonly x: number; readonly y: (share: number) => number }) {
  const ticks: readonly (readonly [number, string])[] =
    axis.kind === 'values'
      ? axis.values.slice(0, MOST_WRITTEN).map((value, index) => [axis.values.length === 1 ? 0.5 : index / (axis.values.length - 1), value])
      : axis.high === axis.low
        ? [[0.5, formatPoint(axis.name, axis.low)]]
        : [
            [0, formatPoint(axis.name, axis.low)],
            [1, formatPoint(axis.name, axis.high)],
          ];
  return (
    <g class="axis">
      <line x1={x} x2={x} y1={y(0)} y2={y(1)} />
      <text x={x} y={16} text-anchor="middle">
        <title>{axis.name}</title>
        {clip(plainText(axis.name), 22)}
      </text>
      {ticks.map(([share, text]) => (
        <text key={text} class="soft-text" x={x + 5} y={share === 0 ? y(0) + 14 : y(share) - 4}>
          {clip(plainText(text), 18)}
        </text>
      ))}
    </g>
  );
}
