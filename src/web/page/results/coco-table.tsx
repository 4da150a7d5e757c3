/** The figures of both stages side by side. */

import type { JsonObject } from '../../../base/json.js';
import { COCO_FIGURE_NAMES, COCO_KINDS, KIND_NAMES } from '../../../detection/coco/figure-names.js';
import { findColumnHint } from '../../../report/column-hints.js';
import { formatDelta, formatFixed } from '../../../report/numbers.js';
import { address } from '../api/client.js';
import { useData } from '../api/use-data.js';
import { findCocoFigure } from '../parts/coco-figures.js';
import { Scroll } from '../parts/scroll.js';
import { nameOf, type ResultSide } from './use-results.js';

export function CocoTable({ left, right }: { readonly left: ResultSide; readonly right: ResultSide }) {
  const one = useMetrics(left);
  const other = useMetrics(right);
  const kinds = COCO_KINDS.filter(kind => typeof one?.[kind] === 'object' || typeof other?.[kind] === 'object');
  if (kinds.length === 0) return null;
  return (
    <details open class="coco">
      <summary>Figures of COCO</summary>
      <Scroll label="Figures of COCO">
        <table class="narrow">
          <thead>
            <tr>
              <th scope="col">
                <span class="sr">Stage</span>
              </th>
              {COCO_FIGURE_NAMES.map(name => (
                <th key={name} scope="col" class="n" title={findColumnHint(name)}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {kinds.flatMap(kind =>
              [
                { side: left, own: one, before: undefined },
                { side: right, own: other, before: one },
              ].map(({ side, own, before }, index) => (
                <tr key={`${kind} ${index}`}>
                  <th scope="row">
                    {KIND_NAMES[kind]} <span class="soft">{nameOf(side)}</span>
                  </th>
                  {COCO_FIGURE_NAMES.map(name => {
                    const value = own === undefined ? undefined : findCocoFigure(own, kind, name);
                    const earlier = before === undefined ? undefined : findCocoFigure(before, kind, name);
                    return (
                      <td key={name} class="n">
                        {value === undefined ? <span title="The data set has no such objects">–</span> : formatFixed(value, 4)}
                        {value !== undefined && earlier !== undefined && nameOf(left) !== nameOf(right) && (
                          <div class="change">{formatDelta(value - earlier, 4)}</div>
                        )}
                      </td>
                    );
                  })}
                </tr>
              )),
            )}
          </tbody>
        </table>
      </Scroll>
    </details>
  );
}

function useMetrics({ stage: { id, outputs }, of }: ResultSide): JsonObject | undefined {
  const output = outputs.find(({ kind, absent }) => kind === 'metrics' && absent !== true);
  return useData<JsonObject>(
    output === undefined ? undefined : address('artifact', { stage: id, port: output.port, of, v: output.digest?.slice(0, 16) }),
    'once',
  ).data;
}
