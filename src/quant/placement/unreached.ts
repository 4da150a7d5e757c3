/** Activations of which calibration saw no element: nothing says what their integers should be, so they stay in float. */
import { getValue } from '../../onnx/ir/edit.js';
import type { Graph, NodeId, ValueId } from '../../onnx/ir/model.js';
import { QuantError } from '../integers/quant-error.js';
import type { Observation } from '../range/range-method.js';
import { isFixedRange, type TensorSettings } from '../scheme/tensor-settings.js';

export interface Unreached {
  /** In graph order. */
  readonly values: readonly ValueId[];
  /** Nodes that read or compute one, with the reason to stay in float. */
  readonly nodes: ReadonlyMap<NodeId, string>;
}

/**
 * Values with a fixed range or scale of their own are not counted.
 * @throws QuantError `no-elements` where calibration saw no element of any value.
 */
export function findUnreached(
  graph: Graph,
  observations: ReadonlyMap<ValueId, Observation>,
  settings: ReadonlyMap<ValueId, TensorSettings>,
): Unreached {
  const values = [...observations].flatMap(([id, one]) => {
    const { range, qparams } = settings.get(id) ?? {};
    const isFixed = qparams !== undefined || (range !== undefined && isFixedRange(range));
    return one.kind === 'seen' && one.sketch.min === undefined && !isFixed ? [id] : [];
  });
  if (values.length > 0 && values.length === observations.size) {
    throw new QuantError('no-elements', `calibration saw no element of any of the ${values.length} values of graph "${graph.name}"`, {
      help: 'calibrate with samples for which the model computes something',
    });
  }
  const unseen = new Set(values);
  const nodes = new Map<NodeId, string>();
  for (const { id, inputs, outputs } of values.length === 0 ? [] : graph.nodes.values()) {
    const value = [...inputs, ...outputs].find(one => one !== undefined && unseen.has(one));
    if (value !== undefined) nodes.set(id, `calibration saw no element of "${getValue(graph, value).name}"`);
  }
  return { values, nodes };
}

/** The warning about one such value. */
export function warnOfUnreached(names: readonly string[]): string {
  const shown = names.slice(0, LISTED).map(name => `"${name}"`);
  const rest = names.length - shown.length;
  return `calibration saw no element of ${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}: the nodes around stay in float; calibrate with samples that reach ${names.length === 1 ? 'it' : 'them'}`;
}

const LISTED = 5;
