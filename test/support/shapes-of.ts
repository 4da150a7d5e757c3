/** Shapes of the values of a model, by name. */
import { getValue } from '../../src/onnx/ir/edit.js';
import type { Model, ValueId } from '../../src/onnx/ir/model.js';

export function shapesOf({ model }: { readonly model: Model }, ids: readonly ValueId[]): Record<string, unknown> {
  return Object.fromEntries(
    ids.map(id => {
      const { name, type } = getValue(model.graph, id);
      return [name, type?.kind === 'tensor' ? type.dims : undefined];
    }),
  );
}
