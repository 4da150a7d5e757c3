/** Several moments side by side: parameters, params of stages, figures with spread, gates. */
import { useMemo } from 'preact/hooks';
import type { Figure } from '../../../base/figure.js';
import type { Json, JsonObject } from '../../../base/json.js';
import { formatDuration } from '../../../base/text/format.js';
import { formatFigure } from '../../../report/numbers.js';
import type { PipelineView } from '../../../report/views/pipeline-data.js';
import type { ComparisonView, MomentView } from '../../views/runs-view.js';
import { address } from '../api/client.js';
import { setQuery, usePlace } from '../api/router.js';
import { useData } from '../api/use-data.js';
import { formatAligned, formatChange } from '../parts/figure-format.js';
import { Empty, Waiting } from '../parts/notice.js';
import { Scroll } from '../parts/scroll.js';
import { plainText } from '../parts/text.js';
import { ComparedClasses } from './compared-classes.js';
import { ComparedLayers } from './compared-layers.js';

export function Comparison({ names, pipeline }: { readonly names: readonly string[]; readonly pipeline: PipelineView }) {
  const { data, error } = useData<ComparisonView>(address('compare', { of: names.join(',') }));
  const { query } = usePlace();
  if (data === undefined) return <Waiting error={error} what="the comparison" />;
  const all = query.all === 'yes';
  const { moments } = data;
  // Baselines keep figures, and no artifacts.
  const kept = names.filter(name => !name.startsWith('baseline:'));
  return (
    <section>
      <h2>{moments.map(({ name }) => name).join(' · ')}</h2>
      {moments.length > 1 && (
        <div class="tools">
          <label>
            <input type="checkbox" checked={all} onChange={() => setQuery({ all: all ? undefined : 'yes' }, 'replace')} /> also what is
            equal
          </label>
        </div>
      )}
      {moments
        .flatMap(({ notes, outdated, name }) => [
          ...notes,
          ...(outdated.length === 0
            ? []
            : [
                `${name}: ${outdated.length === 1 ? 'the result of' : 'the results of'} ${outdated.join(', ')} ${outdated.length === 1 ? 'is' : 'are'} out of date`,
              ]),
        ])
        .map(note => (
          <p key={note} class="warn">
            {plainText(note)}
          </p>
        ))}
      <Rows moments={moments} all={all || moments.length === 1} />
      <ComparedClasses names={kept} pipeline={pipeline} />
      <ComparedLayers names={kept} pipeline={pipeline} />
    </section>
  );
}

interface RowSpec {
  readonly name: string;
  readonly cells: readonly (string | undefined)[];
  readonly numbers?: readonly (Figure | undefined)[];
  /** Measured figures: differences up to this say nothing. */
  readonly spread?: number;
}

function Rows({ moments, all }: { readonly moments: readonly MomentView[]; readonly all: boolean }) {
  const groups = useMemo(() => groupsOf(moments), [moments]);
  const shown = groups
    .map(({ title, rows }) => ({ title, rows: all ? rows : rows.filter(({ cells }) => new Set(cells).size > 1) }))
    .filter(({ rows }) => rows.length > 0);
  if (shown.length === 0) return <Empty>They are equal in every parameter and figure.</Empty>;
  return (
    <Scroll label="Comparison">
      <table class="comparison">
        <thead>
          <tr>
            <th scope="col">
              <span class="sr">What</span>
            </th>
            {moments.map(({ name }) => (
              <th key={name} scope="col" class="n">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        {shown.map(({ title, rows }) => (
          <tbody key={title}>
            <tr class="group">
              <th colSpan={moments.length + 1} scope="rowgroup">
                {title}
              </th>
            </tr>
            {rows.map(row => (
              <ComparisonRow key={row.name} row={row} />
            ))}
          </tbody>
        ))}
      </table>
    </Scroll>
  );
}

function ComparisonRow({ row: { name, cells, numbers, spread } }: { readonly row: RowSpec }) {
  const first = numbers?.[0];
  return (
    <tr>
      <th scope="row">
        <code>{name}</code>
        {spread !== undefined && (
          <span class="soft" title="Both spreads together; a smaller difference says nothing">
            {' '}
            ± {formatFigure(spread)}
          </span>
        )}
      </th>
      {cells.map((cell, index) => {
        const number = numbers?.[index];
        const hasChange = index > 0 && typeof first === 'number' && typeof number === 'number' && number !== first;
        const isNoise = hasChange && spread !== undefined && Math.abs(number - first) <= spread;
        return (
          <td key={index} class={numbers === undefined ? 'n wrapped' : 'n'}>
            {cell === undefined ? <span class="soft">–</span> : plainText(cell)}
            {hasChange && (
              <span class={isNoise ? 'change soft' : 'change strong'}> {isNoise ? '(noise)' : formatChange(first, number)}</span>
            )}
          </td>
        );
      })}
    </tr>
  );
}

function groupsOf(moments: readonly MomentView[]): readonly { readonly title: string; readonly rows: readonly RowSpec[] }[] {
  const stages = [...new Set(moments.flatMap(one => Object.keys(one.stages)))];
  return [
    { title: 'Parameters', rows: rowsOf(moments.map(({ params }) => flatten(params))) },
    {
      title: 'Duration',
      rows: [
        {
          name: 'whole run',
          cells: moments.map(({ timeline }) => (timeline === undefined ? undefined : formatDuration(timeline.durationMs))),
        },
      ],
    },
    ...stages.map(stage => {
      const own = moments.map(one => one.stages[stage]);
      const params = rowsOf(own.map(one => (one?.params === undefined ? undefined : flatten(one.params, 'with.'))));
      const gates = rowsOf(
        own.map(one =>
          one === undefined
            ? undefined
            : new Map(one.gates.map(({ metric, operator, bound, verdict }) => [`gate ${metric} ${operator} ${bound}`, verdict])),
        ),
      );
      return { title: stage, rows: [...params, ...figureRows(own.map(one => one?.metrics)), ...gates] };
    }),
  ];
}

function rowsOf(sides: readonly (ReadonlyMap<string, string> | undefined)[]): readonly RowSpec[] {
  const names = [...new Set(sides.flatMap(side => [...(side?.keys() ?? [])]))];
  return names.map(name => ({ name, cells: sides.map(side => side?.get(name)) }));
}

function figureRows(sides: readonly (Readonly<Record<string, Figure>> | undefined)[]): readonly RowSpec[] {
  const names = [...new Set(sides.flatMap(side => Object.keys(side ?? {})))].filter(name => !/^(spread|delta)\./.test(name));
  return names.map(name => {
    const numbers = sides.map(side => side?.[name]);
    const spreads = sides.flatMap(side => {
      const spread = side?.[`spread.${name}`];
      return typeof spread === 'number' ? [spread] : [];
    });
    return {
      name,
      cells: formatAligned(numbers),
      numbers,
      ...(spreads.length === 0 ? {} : { spread: spreads.reduce((sum, one) => sum + one, 0) }),
    };
  });
}

function flatten(value: JsonObject, prefix = ''): ReadonlyMap<string, string> {
  const flat = new Map<string, string>();
  const add = (member: Json, name: string): void => {
    if (typeof member === 'object' && member !== null && !Array.isArray(member) && Object.keys(member).length > 0)
      for (const [key, inner] of Object.entries(member)) add(inner, `${name}.${key}`);
    else flat.set(name, typeof member === 'string' ? member : JSON.stringify(member));
  };
  for (const [name, member] of Object.entries(value)) add(member, prefix + name);
  return flat;
}
