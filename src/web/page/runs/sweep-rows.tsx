/** The configurations of a sweep: a table, best first, and the points. */
import { useMemo } from 'preact/hooks';
import { formatBytes } from '../../../base/text/format.js';
import { formatFigure } from '../../../report/numbers.js';
import type { SweepDocument } from '../../../report/sweep-document.js';
import { setQuery, usePlace } from '../api/router.js';
import { isStatic } from '../api/saved.js';
import { BrokenName } from '../parts/broken-name.js';
import { type ColumnSpec, DataTable } from '../parts/data-table.js';
import type { HeadingLevel } from '../parts/heading.js';
import { plainText } from '../parts/text.js';
import { chooseFigures, findFront, numberOf, type Point, SIZE, textOf } from './point-axes.js';
import { Points } from './points.js';
import { PointScatter } from './run-scatter.js';

type Row = SweepDocument['configurations'][number];

interface SweepProps {
  readonly name: string;
  readonly sweep: SweepDocument;
  /** Before what the address holds of this sweep. */
  readonly prefix: string;
  readonly level: HeadingLevel;
}

export function SweepRows({ name, sweep, prefix, level }: SweepProps) {
  const { query } = usePlace();
  const { axes, objectives, configurations } = sweep;
  const points = useMemo(() => configurations.map(row => pointOf(row, axes)), [configurations, axes]);
  const first = useMemo(() => chooseFigures(objectives, points), [objectives, points]);
  const key = `${prefix}config`;
  const picked = (query[key] ?? '').split(',').filter(one => one !== '');
  const toggle = (one: string): void =>
    setQuery(
      { [key]: (picked.includes(one) ? picked.filter(other => other !== one) : [...picked, one]).join(',') || undefined },
      'replace',
    );
  const columns = useMemo(() => columnsOf(sweep), [sweep]);
  const metrics = objectives.map(({ metric }) => metric).filter(metric => points.some(point => numberOf(point, metric) !== undefined));
  return (
    <>
      <DataTable
        label={`${configurations.length} configurations of ${name}`}
        rows={configurations}
        columns={columns}
        keyOf={nameOf}
        picked={picked[0]}
        pick={row => toggle(nameOf(row))}
        visibleRows={12}
      />
      {isStatic && points.length > 1 && first !== undefined && (
        <PointScatter
          points={points}
          front={findFront(points, first.x, first.y, first.goals)}
          names={[first.x, first.y]}
          picked={[]}
          toggle={toggle}
        />
      )}
      {points.length > 1 && axes.length > 0 && !isStatic && (
        <Points
          title={`Configurations of ${name}`}
          points={points}
          figures={metrics.slice(0, 6)}
          first={first}
          prefix={`${prefix}s`}
          level={level}
          picked={picked}
          toggle={toggle}
        />
      )}
    </>
  );
}

function nameOf({ number }: Row): string {
  return `#${number}`;
}

function pointOf(row: Row, axes: SweepDocument['axes'] = []): Point {
  const values = axes.map(({ name }) => textOf(row.params[name])).join(' ');
  return {
    name: nameOf(row),
    ...(values.trim() === '' ? {} : { label: values }),
    params: row.params,
    figures: row.sizeBytes === undefined ? row.metrics : { ...row.metrics, [SIZE]: row.sizeBytes },
  };
}

function columnsOf({ axes, objectives }: SweepDocument): readonly ColumnSpec<Row>[] {
  return [
    {
      name: 'number',
      title: '#',
      rank: ({ number }) => number,
      cell: row => {
        const name = (
          <>
            {nameOf(row)}
            {row.onFront && <span title="On the Pareto front: no other configuration beats it in everything"> ★</span>}
          </>
        );
        return isStatic ? (
          name
        ) : (
          <button type="button" class="as-link">
            {name}
          </button>
        );
      },
    },
    ...axes.map(
      ({ name, sets }): ColumnSpec<Row> => ({
        name: `axis ${name}`,
        title: (
          <code>
            <BrokenName name={name} />
          </code>
        ),
        hint: plainText(sets),
        rank: ({ params }) => rankParam(params[name]),
        cell: ({ params }) => <code>{plainText(textOf(params[name]))}</code>,
      }),
    ),
    ...objectives.map(
      ({ metric, goal }): ColumnSpec<Row> => ({
        name: metric,
        title: <BrokenName name={metric} />,
        hint: goal === 'maximize' ? 'More is better' : 'Less is better',
        numeric: true,
        first: goal === 'maximize' ? 'down' : 'up',
        rank: row => numberOf(pointOf(row), metric),
        cell: row => {
          if (metric === SIZE) return row.sizeBytes === undefined ? '–' : formatBytes(row.sizeBytes);
          const figure = row.metrics[metric];
          return figure === undefined ? '–' : formatFigure(figure);
        },
      }),
    ),
    {
      name: 'status',
      title: 'Status',
      rank: ({ status }) => status,
      cell: ({ status, gatesMissed, problems }) => (
        <span class={status === 'built' ? 'good' : 'warn'}>
          {status === 'gate-missed' ? `gate missed: ${gatesMissed.join(', ')}` : status}
          {problems[0] !== undefined && `: ${plainText(problems[0].message.split('\n')[0] ?? '')}`}
        </span>
      ),
    },
  ];
}

function rankParam(value: Row['params'][string] | undefined): number | string {
  return typeof value === 'number' ? value : textOf(value);
}
