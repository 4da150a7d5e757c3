/** Two figures of all runs as a scatter, with the runs that no other run beats in both. */
import { useMemo } from 'preact/hooks';
import { formatFigure } from '../../../report/numbers.js';
import type { RunRow } from '../../views/runs-view.js';
import { setQuery, usePlace } from '../api/router.js';
import { AxisX, AxisY, Chart } from '../parts/chart.js';
import { Empty } from '../parts/notice.js';
import { boundsOf, linearScale } from '../parts/scale.js';
import { Select } from '../parts/select.js';

interface ScatterProps {
  readonly runs: readonly RunRow[];
  readonly names: readonly string[];
  readonly picked: readonly string[];
  readonly toggle: (name: string) => void;
}

interface Dot {
  readonly run: string;
  readonly x: number;
  readonly y: number;
}

const FRAME = { width: 720, height: 330, left: 64, bottom: 44, top: 22, right: 16 };

const GOALS = [
  ['most', 'more is better'],
  ['least', 'less is better'],
] as const;

export function RunScatter({ runs, names, picked, toggle }: ScatterProps) {
  const { query } = usePlace();
  const [nameX, nameY] = [query.x, query.y];
  const dots = useMemo(() => (nameX === undefined || nameY === undefined ? [] : dotsOf(runs, nameX, nameY)), [runs, nameX, nameY]);
  const [goalX, goalY] = [query.gx === 'least' ? 'least' : 'most', query.gy === 'least' ? 'least' : 'most'] as const;
  return (
    <section>
      <h2>Two figures of all runs</h2>
      <div class="tools">
        <AxisPicker axis="x" names={names} value={nameX} goal={goalX} />
        <AxisPicker axis="y" names={names} value={nameY} goal={goalY} />
      </div>
      {dots.length === 0 ? (
        <Empty>Choose a figure for each axis. Runs that no other run beats in both are then joined by a line.</Empty>
      ) : (
        <Scatter dots={dots} front={frontOf(dots, goalX, goalY)} names={[nameX ?? '', nameY ?? '']} picked={picked} toggle={toggle} />
      )}
    </section>
  );
}

function AxisPicker({
  axis,
  names,
  value,
  goal,
}: {
  readonly axis: 'x' | 'y';
  readonly names: readonly string[];
  readonly value: string | undefined;
  readonly goal: string;
}) {
  return (
    <span class="buttons">
      <Select
        label={axis === 'x' ? 'Across' : 'Up'}
        value={value ?? ''}
        choices={names}
        none="choose …"
        pick={name => setQuery({ [axis]: name || undefined }, 'replace')}
      />
      <Select
        label={<span class="sr">Better {axis === 'x' ? 'across' : 'up'}</span>}
        value={goal}
        choices={GOALS}
        pick={chosen => setQuery({ [`g${axis}`]: chosen === 'least' ? 'least' : undefined }, 'replace')}
      />
    </span>
  );
}

function Scatter({
  dots,
  front,
  names,
  picked,
  toggle,
}: { readonly dots: readonly Dot[]; readonly front: readonly Dot[]; readonly names: readonly [string, string] } & Pick<
  ScatterProps,
  'picked' | 'toggle'
>) {
  const x = linearScale(boundsOf(dots.map(dot => dot.x)) ?? [0, 1], [FRAME.left, FRAME.width - FRAME.right]);
  const y = linearScale(boundsOf(dots.map(dot => dot.y)) ?? [0, 1], [FRAME.height - FRAME.bottom, FRAME.top]);
  return (
    <Chart label="Scatter" size={FRAME} role="group" summary={`${names[1]} over ${names[0]} of ${dots.length} runs`}>
      <AxisX frame={FRAME} scale={x} />
      <AxisY frame={FRAME} scale={y} />
      <text x={(FRAME.left + FRAME.width) / 2} y={FRAME.height - 6} text-anchor="middle">
        {names[0]}
      </text>
      <text x={FRAME.left} y={FRAME.top - 2} class="soft-text">
        {names[1]}
      </text>
      <polyline class="front" points={front.map(dot => `${x(dot.x)},${y(dot.y)}`).join(' ')} />
      {dots.map(dot => (
        <circle
          key={dot.run}
          class={`dot${picked.includes(dot.run) ? ' picked' : ''}${front.includes(dot) ? ' best' : ''}`}
          cx={x(dot.x)}
          cy={y(dot.y)}
          r={5}
          role="button"
          tabindex={0}
          aria-pressed={picked.includes(dot.run)}
          aria-label={`${dot.run}: ${formatFigure(dot.x)}, ${formatFigure(dot.y)}`}
          onClick={() => toggle(dot.run)}
          onKeyDown={event => event.key === 'Enter' && toggle(dot.run)}
        >
          <title>{`${dot.run}\n${names[0]}: ${formatFigure(dot.x)}\n${names[1]}: ${formatFigure(dot.y)}`}</title>
        </circle>
      ))}
    </Chart>
  );
}

function dotsOf(runs: readonly RunRow[], nameX: string, nameY: string): readonly Dot[] {
  return runs.flatMap(({ run, figures }) => {
    const [x, y] = [figures[nameX], figures[nameY]];
    return typeof x === 'number' && typeof y === 'number' ? [{ run, x, y }] : [];
  });
}

/** The runs for which no run is at least as good in both figures and better in one, from left to right. */
export function frontOf(dots: readonly Dot[], goalX: 'most' | 'least', goalY: 'most' | 'least'): readonly Dot[] {
  const [signX, signY] = [goalX === 'most' ? 1 : -1, goalY === 'most' ? 1 : -1];
  const beats = (a: Dot, b: Dot): boolean =>
    signX * (a.x - b.x) >= 0 && signY * (a.y - b.y) >= 0 && (signX * (a.x - b.x) > 0 || signY * (a.y - b.y) > 0);
  return dots.filter(dot => !dots.some(other => beats(other, dot))).sort((a, b) => a.x - b.x);
}
