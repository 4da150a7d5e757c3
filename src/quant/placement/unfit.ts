/** Activations for which there are no sensible integers, so that they stay in float: calibration saw no element, or they are masks. */
import { getValue } from '../../onnx/ir/edit.js';
import type { Graph, NodeId, ValueId } from '../../onnx/ir/model.js';
import { findMaskConstants, findMasks, hasFarElements, readsMasks } from '../calibration/mask-constants.js';
import { QuantError } from '../integers/quant-error.js';
import type { Observation } from '../range/range-method.js';
import { isFixedRange, type TensorSettings } from '../scheme/tensor-settings.js';

export interface Unfit {
  /** Of which calibration saw no element, in graph order. */
  readonly unreached: readonly ValueId[];
  /** With elements that are infinite or far beyond every signal, in graph order; constants among them. */
  readonly masks: readonly ValueId[];
  /** Nodes that read or compute one, with the reason to stay in float. */
  readonly nodes: ReadonlyMap<NodeId, string>;
}

/**
 * Values with a fixed range or scale of their own are not counted.
 * @throws QuantError `no-elements` where calibration saw no element of any value.
 */
export function findUnfit(
  graph: Graph,
  observations: ReadonlyMap<ValueId, Observation>,
  settings: ReadonlyMap<ValueId, TensorSettings>,
): Unfit {
  const seen = [...observations].flatMap(([id, one]) => {
    const { range, qparams } = settings.get(id) ?? {};
    const isFixed = qparams !== undefined || (range !== undefined && isFixedRange(range));
    return one.kind === 'seen' && !isFixed ? [{ id, sketch: one.sketch }] : [];
  });
  const unreached = seen.filter(({ sketch }) => sketch.min === undefined && sketch.infinite === 0).map(({ id }) => id);
  if (unreached.length > 0 && unreached.length === observations.size) {
    throw new QuantError('no-elements', `calibration saw no element of any of the ${unreached.length} values of graph "${graph.name}"`, {
      help: 'calibrate with samples for which the model computes something',
    });
  }
  const computed = findMasks(graph, id => {
    const one = observations.get(id);
    return one?.kind === 'seen' ? hasFarElements(one.sketch) : undefined;
  });
  // A signal may be large too; infinity has no scale.
  const isMask = ({ id, sketch }: (typeof seen)[number]): boolean => sketch.infinite > 0 || (hasFarElements(sketch) && computed.has(id));
  const masks = [...findMaskConstants(graph), ...seen.filter(isMask).map(({ id }) => id)];
  const reasons = new Map([
    ...unreached.map(id => [id, `calibration saw no element of "${getValue(graph, id).name}"`] as const),
    ...masks.map(id => [id, `"${getValue(graph, id).name}" is a mask: it has elements beyond every signal`] as const),
  ]);
  const nodes = new Map<NodeId, string>();
  for (const node of reasons.size === 0 ? [] : graph.nodes.values()) {
    const value = [...(readsMasks(node) ? node.inputs : node.inputs.slice(0, 1)), ...node.outputs].find(
      id => id !== undefined && reasons.has(id),
    );
    const reason = value === undefined ? undefined : reasons.get(value);
    if (reason !== undefined) nodes.set(node.id, reason);
  }
  return { unreached, masks, nodes };
}

/** The warning about values that calibration did not reach. */
export function warnOfUnreached(names: readonly string[]): string {
  return `calibration saw no element of ${listNames(names)}: the nodes around stay in float; calibrate with samples that reach ${names.length === 1 ? 'it' : 'them'}`;
}

/** The warning about masks. */
export function warnOfMasks(names: readonly string[]): string {
  return `${listNames(names)} ${names.length === 1 ? 'is a mask' : 'are masks'} with elements beyond every signal: the nodes around stay in float`;
}

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, LISTED).map(name => `"${name}"`);
  const rest = names.length - shown.length;
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

const LISTED = 5;
