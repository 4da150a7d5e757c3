/** Shares of each layer in the errors of the outputs, to first order: errors are followed back from the outputs, step by step. */
import { getDefined } from '../../base/invariant.js';
import type { ValueId } from '../../onnx/ir/model.js';
import type { StepErrors } from './error-flow.js';
import type { SteppedModels } from './find-steps.js';
import type { QuantizedLayer } from './quantized-layers.js';

export interface LayerShares {
  readonly layer: QuantizedLayer;
  readonly signal: number;
  /** Squares of the own error. */
  readonly own: number;
  /** Per output with an error, by its name in the float model. All layers together have 1. */
  readonly shares: Readonly<Record<string, number>>;
  /** Mean of the shares. */
  readonly cost: number;
}

/** In the order of the layers. Errors that come through integers, such as indices, belong to no layer. */
export function shareErrors(
  { float, steps }: SteppedModels,
  layers: readonly QuantizedLayer[],
  errors: StepErrors,
): readonly LayerShares[] {
  const outputs = [...new Set(float.graph.outputs)].filter(id => (errors.get(id)?.noise ?? 0) > 0);
  const flows = outputs.map(id => ({ name: steps.get(id)?.value.name ?? '', shares: followBack(steps, errors, id) }));
  return layers.map(layer => {
    const sums = { signal: 0, own: 0 };
    for (const id of layer.values) {
      sums.signal += errors.get(id)?.signal ?? 0;
      sums.own += errors.get(id)?.own ?? 0;
    }
    const shares = flows.map(flow => [flow.name, sum(layer.values.map(id => flow.shares.get(id) ?? 0))] as const);
    return {
      layer,
      ...sums,
      shares: Object.fromEntries(shares),
      cost: shares.length === 0 ? 0 : sum(shares.map(([, share]) => share)) / shares.length,
    };
  });
}

/** The share of each step's own error in the error of `output`. */
function followBack(steps: SteppedModels['steps'], errors: StepErrors, output: ValueId): ReadonlyMap<ValueId, number> {
  const passed = new Map<ValueId, number>([[output, 1]]);
  const shares = new Map<ValueId, number>();
  for (const [id, step] of [...steps].reverse()) {
    const weight = passed.get(id) ?? 0;
    const error = errors.get(id);
    if (weight === 0 || error === undefined || error.noise === 0) continue;
    shares.set(id, (weight * error.ownPart) / error.noise);
    for (const [index, read] of step.reads.entries()) {
      const part = getDefined(error.readParts[index], 'part of a value that is read');
      passed.set(read, (passed.get(read) ?? 0) + (weight * part) / error.noise);
    }
  }
  return shares;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, x) => total + x, 0);
}
