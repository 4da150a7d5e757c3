/** What is one difference of two models? */
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
      /** Of the first model. */
      readonly name: string;
      readonly field: string;
      readonly before: string;
      readonly after: string;
    };

/** From values of the first graph to those of the second that stand for the same. */
export type Partners = ReadonlyMap<ValueId, Value>;

/** No difference, or one, of a field that is text in both. */
export function changed(
  what: Extract<Difference, { kind: 'changed' }>['what'],
  name: string,
  field: string,
  before: string | undefined,
  after: string | undefined,
): Difference[] {
  return before === after ? [] : [{ kind: 'changed', what, name, field, before: before ?? 'absent', after: after ?? 'absent' }];
}
