/** Finds the heads of an exported Mask R-CNN: their input values and the maps that RoIs are pooled from, around the RoiAlign nodes. */
import { getFloat, getInt, getString } from '../../../../onnx/ir/attribute.js';
import type { Model, Node, ValueId } from '../../../../onnx/ir/model.js';
import { describeNode } from '../../../../onnx/shape-inference/context/node-context.js';
import { FINEST_STRIDE } from '../make-recipe.js';
import { type Flow, findLastWeighted, findNextWeighted } from './network-flow.js';
import { listNodes, notFound } from './not-found.js';

export interface LocatedHead {
  readonly input: ValueId;
  readonly size: number;
  readonly samplingRatio: number;
}

export interface FoundHead {
  readonly place: LocatedHead;
  /** Maps that its RoIs are pooled from, finest first. */
  readonly maps: readonly ValueId[];
  /** Last weighted nodes of the head. */
  readonly ends: readonly Node[];
}

/**
 * RoiAlign nodes whose results end up in the same value belong to one head.
 * @throws DetectionError `maskrcnn-structure` where there are none, or where pooling differs from torchvision's.
 */
export function findHeads(flow: Flow, model: Model): readonly FoundHead[] {
  const aligns = [...flow.graph.nodes.values()].filter(node => node.domain === '' && node.opType === 'RoiAlign');
  if (aligns.length === 0)
    throw notFound('RoiAlign nodes, found none', 'cut a model without post-processing by `parts`, or build it with `export`');
  const groups = new Map<ValueId, Node[]>();
  for (const align of aligns) {
    const input = findHeadInput(flow, align);
    groups.set(input, [...(groups.get(input) ?? []), align]);
  }
  return [...groups].map(([input, nodes]) => readHead(flow, model, input, nodes));
}

/** The value that the first weighted nodes after a RoiAlign read, before it is flattened for a fully connected layer. */
function findHeadInput(flow: Flow, align: Node): ValueId {
  const [output] = align.outputs;
  const inputs = new Set((output === undefined ? [] : findNextWeighted(flow, output)).map(node => beforeFlattening(flow, node.inputs[0])));
  const [input, ...others] = inputs;
  if (input === undefined || others.length > 0)
    throw notFound(`one value that collects the RoIs after ${describeNode(align, flow.graph)}, found ${inputs.size}`);
  return input;
}

function beforeFlattening(flow: Flow, value: ValueId | undefined): ValueId | undefined {
  const producer = value === undefined ? undefined : flow.producerOf(value);
  return producer?.opType === 'Flatten' || producer?.opType === 'Reshape' ? beforeFlattening(flow, producer.inputs[0]) : value;
}

function readHead(flow: Flow, model: Model, input: ValueId, aligns: readonly Node[]): FoundHead {
  const ordered = [...aligns].sort((a, b) => scaleOf(b) - scaleOf(a));
  for (const [level, align] of ordered.entries()) {
    const problem = findPoolingProblem(model, align, level);
    if (problem !== undefined) throw notFound(`pooling as in torchvision, but ${describeNode(align, flow.graph)} ${problem}`);
  }
  const [first] = ordered;
  const size = first === undefined ? 0 : getInt(first, 'output_height', 1);
  const samplingRatio = first === undefined ? 0 : getInt(first, 'sampling_ratio', 0);
  if (ordered.some(align => getInt(align, 'output_height', 1) !== size || getInt(align, 'sampling_ratio', 0) !== samplingRatio))
    throw notFound(`equal size and sampling ratio for all levels of a head, but ${listNodes(flow, ordered)} differ`);
  const maps = ordered.map(align => align.inputs[0]).filter(map => map !== undefined);
  return { place: { input, size, samplingRatio }, maps, ends: findLastWeighted(flow, input) };
}

const scaleOf = (align: Node): number => getFloat(align, 'spatial_scale', 1);

function findPoolingProblem(model: Model, align: Node, level: number): string | undefined {
  const [height, width] = [getInt(align, 'output_height', 1), getInt(align, 'output_width', 1)];
  if (height !== width) return `has output ${height}×${width}, which is not square`;
  if (getString(align, 'mode', 'avg') !== 'avg') return `has mode ${getString(align, 'mode', 'avg')}, expected avg`;
  const places = getString(align, 'coordinate_transformation_mode', (model.opsets.get('') ?? 1) < 16 ? 'output_half_pixel' : 'half_pixel');
  if (places !== 'output_half_pixel')
    return `has coordinate_transformation_mode ${places}, expected output_half_pixel (torchvision's aligned=False)`;
  const scale = 1 / (FINEST_STRIDE * 2 ** level);
  if (scaleOf(align) !== scale) return `has spatial_scale ${scaleOf(align)}, expected ${scale} at level ${level}`;
  return undefined;
}
