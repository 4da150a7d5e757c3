/** Runs or configurations as points: two figures as a scatter with the Pareto front, and parameters and figures on parallel axes. */
import { useMemo } from 'preact/hooks';
import { usePlace } from '../api/router.js';
import { Heading, type HeadingLevel } from '../parts/heading.js';
import { ParallelAxes } from './parallel-axes.js';
import { axesOf, findFront, type Goal, type Point, type ScatterFigures } from './point-axes.js';
import { PointScatter, ScatterAxes } from './run-scatter.js';

interface PointsProps {
  readonly title: string;
  readonly points: readonly Point[];
  /** Names of figures that have an axis of their own besides those of the scatter. */
  readonly figures: readonly string[];
  /** What the scatter shows until another figure is chosen. */
  readonly first?: ScatterFigures | undefined;
  /** Before the names of these axes in the address. */
  readonly prefix: string;
  readonly picked: readonly string[];
  readonly toggle: (name: string) => void;
  readonly level: HeadingLevel;
}

export function Points({ title, points, figures, first, prefix, picked, toggle, level }: PointsProps) {
  const { query } = usePlace();
  const names = useMemo(() => [...new Set(points.flatMap(({ figures: own }) => Object.keys(own)))].sort(), [points]);
  const [x, y] = [query[`${prefix}x`] ?? first?.x, query[`${prefix}y`] ?? first?.y];
  const goals = [
    goalOf(query[`${prefix}gx`]) ?? first?.goals[0] ?? 'most',
    goalOf(query[`${prefix}gy`]) ?? first?.goals[1] ?? 'most',
  ] as const;
  const front = useMemo(() => findFront(points, x, y, goals), [points, x, y, ...goals]);
  const shown = [...figures, ...[x, y].filter(name => name !== undefined && !figures.includes(name))].flatMap(name => name ?? []);
  const axes = useMemo(() => axesOf(points, shown), [points, shown.join(' ')]);
  return (
    <section>
      <Heading level={level}>{title}</Heading>
      <ScatterAxes names={names} chosen={{ x, y, goals }} first={first} prefix={prefix} />
      <PointScatter points={points} front={front} names={[x, y]} picked={picked} toggle={toggle} />
      <ParallelAxes points={points} axes={axes} front={front} picked={picked} toggle={toggle} />
    </section>
  );
}

function goalOf(text: string | undefined): Goal | undefined {
  return text === 'least' || text === 'most' ? text : undefined;
}
