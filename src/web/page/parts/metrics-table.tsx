/** All figures of a metrics document, flat, with a filter where they are many. */
import { useState } from 'preact/hooks';
import type { Figure } from '../../../base/figure.js';
import type { Json, JsonObject } from '../../../base/json.js';
import { formatFigure } from '../../../report/numbers.js';

const MANY = 24;

export function MetricsTable({ metrics }: { readonly metrics: JsonObject }) {
  const [filter, setFilter] = useState('');
  const rows = flatten(metrics, '');
  const shown = rows.filter(([name]) => name.toLowerCase().includes(filter.toLowerCase()));
  return (
    <>
      {rows.length > MANY && (
        <label class="filter">
          <span class="sr">Filter figures</span>
          <input
            type="search"
            placeholder={`filter ${rows.length} figures`}
            value={filter}
            onInput={event => setFilter(event.currentTarget.value)}
          />
        </label>
      )}
      <div class="scroll short" tabIndex={0} role="region" aria-label="Figures">
        <table class="narrow">
          <tbody>
            {shown.slice(0, 400).map(([name, value]) => (
              <tr key={name}>
                <th scope="row">
                  <code>{name}</code>
                </th>
                <td class="n">{formatFigure(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function flatten(value: Json, prefix: string): readonly (readonly [string, Figure])[] {
  if (typeof value === 'number' || value === 'equal') return [[prefix, value]];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => flatten(member as Json, prefix === '' ? name : `${prefix}.${name}`));
}
