/** All figures of a metrics document, flat, with a filter where they are many. */
import { useState } from 'preact/hooks';
import type { Figure } from '../../../base/figure.js';
import type { Json, JsonObject } from '../../../base/json.js';
import { formatFigure } from '../../../report/numbers.js';
import { type PlainColumn, PlainTable } from './plain-table.js';
import { FilterField } from './select.js';

const MANY = 24;

export function MetricsTable({ metrics }: { readonly metrics: JsonObject }) {
  const [filter, setFilter] = useState('');
  const rows = flatten(metrics, '');
  const shown = rows.filter(([name]) => name.toLowerCase().includes(filter.toLowerCase()));
  return (
    <>
      {rows.length > MANY && <FilterField what="figures" hint={`filter ${rows.length} figures`} value={filter} set={setFilter} />}
      <PlainTable label="Figures" class="short" rows={shown.slice(0, 400)} columns={COLUMNS} keyOf={([name]) => name} />
    </>
  );
}

type NamedFigure = readonly [name: string, value: Figure];

const COLUMNS: readonly PlainColumn<NamedFigure>[] = [
  { cell: ([name]) => <code>{name}</code> },
  { look: 'n', cell: ([, value]) => formatFigure(value) },
];

function flatten(value: Json, prefix: string): readonly NamedFigure[] {
  if (typeof value === 'number' || value === 'equal') return [[prefix, value]];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => flatten(member as Json, prefix === '' ? name : `${prefix}.${name}`));
}
