/** Finds operator names in the params that neither the model nor any preset has, which are probably misspelled. */
import { describeNear, findNear } from '../../src/base/text/did-you-mean.js';
import type { Graph } from '../../src/onnx/ir/model.js';
import { DEFAULT_OP_TYPES } from '../../src/quant/scheme/scheme.js';
import type { QuantizeParams } from '../../src/quant/settings/quantize-params.js';

/** One sentence per name. Operators of the presets may be absent from one of several models. */
export function findIdleOperators(
  graph: Graph,
  { opTypes = [], placement }: Pick<QuantizeParams, 'opTypes' | 'placement'>,
): readonly string[] {
  const known = new Set([...DEFAULT_OP_TYPES, ...[...graph.nodes.values()].map(node => node.opType)]);
  const named = [
    ...opTypes.map(op => ['opTypes', op] as const),
    ...(placement.floatOutputs ?? []).map(op => ['placement.floatOutputs', op] as const),
  ];
  return named
    .filter(([, op]) => !known.has(op))
    .map(([param, op]) => {
      const near = findNear(op, known);
      return `${param} names ${op}, but the model has no such node${near.length === 0 ? '' : `; ${describeNear(near)}`}`;
    });
}
