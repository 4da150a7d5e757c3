/** Sizes that are not known before a model runs: which values have them, where they start, and what to do. */
import type { Model, Node, ValueId } from '../../onnx/ir/model.js';
import { findConstantValue } from '../../onnx/rewrite/graph-view.js';
import { isStatic } from '../../onnx/shape-inference/context/dims.js';
import { formatSizes, tensorOf } from './unit-facts.js';

/** Values whose sizes are not fixed, for messages. */
export function listFreeSizes(model: Model): readonly string[] {
  return [...model.graph.values.values()].flatMap(({ id }) => {
    const { name: value, dims } = tensorOf(model, id);
    return dims !== undefined && isStatic(dims) ? [] : [`"${value}" ${dims === undefined ? 'of unknown rank' : formatSizes(dims)}`];
  });
}

/** Whether all sizes of a value are fixed; constants are, and so is an absent input. */
export function hasFixedSizes(model: Model, id: ValueId | undefined): boolean {
  return id === undefined || findConstantValue(model, id) !== undefined || isStatic(tensorOf(model, id).dims);
}

/** The nodes from which on sizes depend on data, as those of NonMaxSuppression and NonZero do: free sizes behind fixed ones. */
export function findDataOrigins(model: Model): readonly Node[] {
  const isFixed = (id: ValueId | undefined): boolean => hasFixedSizes(model, id);
  return [...model.graph.nodes.values()].filter(({ inputs, outputs }) => inputs.every(isFixed) && !outputs.every(isFixed));
}

/** Whole detectors have hundreds of such nodes. */
const MOST_NAMED = 3;

function describeOrigins(nodes: readonly Node[]): string {
  const named = nodes.slice(0, MOST_NAMED).map(({ opType, name }) => (name === '' ? opType : `${opType} "${name}"`));
  return `${named.join(', ')}${nodes.length > MOST_NAMED ? ` and ${nodes.length - MOST_NAMED} more` : ''}`;
}

/** How sizes become free at `origins`: by data, or by an operator of a vendor, of which no shape is known. */
export function describeStart(origins: readonly Node[]): string {
  const custom = origins.every(({ domain }) => domain !== '');
  return `sizes ${custom ? 'are not known' : 'depend on data'} from ${describeOrigins(origins)} on`;
}

/** The next step for a model that must have fixed sizes. */
export function helpWithFreeSizes(model: Model): string {
  const others = 'a model that only the CPU runs may have free sizes: `place`';
  const origins = findDataOrigins(model);
  if (model.graph.inputs.every(id => hasFixedSizes(model, id)) && origins.length > 0) {
    return `${describeStart(origins)}: \`split\` with \`cuts: static\`, before \`quantize\`, makes a part with fixed sizes and leaves the rest to the host, and \`tanren init --model\` writes that pipeline; ${others}`;
  }
  return `set named sizes with \`pin\`, for example {box_rois: 1}, or export the model with fixed sizes; ${others}`;
}
