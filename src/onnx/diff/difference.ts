/** The type of a difference between two models. */
import type { Value, ValueId } from '../ir/model.js';

export type Difference =
  | {
      readonly kind: 'added' | 'removed';
      readonly what: 'input' | 'output' | 'node' | 'constant';
      readonly name: string;
      readonly is: string;
    }
  | {
      readonly kind: 'changed';
      readonly what: 'model' | 'input' | 'output' | 'node' | 'constant' | 'value';
      /** The name in the first model. */
      readonly name: string;
      readonly field: string;
      readonly before: string;
      readonly after: string;
    };

/** From values of the first graph to the matching values of the second. */
export type Partners = ReadonlyMap<ValueId, Value>;

/** The difference of a text field: none or one. */
export function changed(
  what: Extract<Difference, { kind: 'changed' }>['what'],
  name: string,
  field: string,
  before: string | undefined,
  after: string | undefined,
): Difference[] {
  return before === after ? [] : [{ kind: 'changed', what, name, field, before: before ?? 'absent', after: after ?? 'absent' }];
}
