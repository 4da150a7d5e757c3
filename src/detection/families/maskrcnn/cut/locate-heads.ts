/** Which values do the heads of an exported Mask R-CNN read, and from which maps are they pooled? What stands around its RoiAlign nodes tells. */
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
  /** The maps that it is pooled from, finest first. */
  readonly maps: readonly ValueId[];
  /** Its last weighted nodes. */
  readonly ends: readonly Node[];
}

/**
 * RoiAligns whose results meet in one value, however they are scattered and joined, feed one head.
 * @throws DetectionError `maskrcnn-structure` where there is none, or one pools as torchvision does not.
 */
export function findHeads(flow: Flow, model: Model): readonly FoundHead[] {
  const aligns = [...flow.graph.nodes.values()].filter(node => node.domain === '' && node.opType === 'RoiAlign');
  if (aligns.length === 0)
    throw notFound('RoiAlign nodes; there is none', 'a model without its post-processing is cut by `parts`, or exported by `export`');
  const groups = new Map<ValueId, Node[]>();
  for (const align of aligns) {
    const input = findHeadInput(flow, align);
    groups.set(input, [...(groups.get(input) ?? []), align]);
  }
  return [...groups].map(([input, nodes]) => readHead(flow, model, input, nodes));
}

/** The value that the first weighted nodes behind a RoiAlign read, before it is flattened for a fully connected one. */
function findHeadInput(flow: Flow, align: Node): ValueId {
  const [output] = align.outputs;
  const inputs = new Set((output === undefined ? [] : findNextWeighted(flow, output)).map(node => beforeFlattening(flow, node.inputs[0])));
  const [input, ...others] = inputs;
  if (input === undefined || others.length > 0)
    throw notFound(`one value in which the RoIs meet behind ${describeNode(align, flow.graph)}; ${inputs.size} are there`);
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
    if (problem !== undefined) throw notFound(`pooling as torchvision does; ${describeNode(align, flow.graph)} ${problem}`);
  }
  const [first] = ordered;
  const size = first === undefined ? 0 : getInt(first, 'output_height', 1);
  const samplingRatio = first === undefined ? 0 : getInt(first, 'sampling_ratio', 0);
  if (ordered.some(align => getInt(align, 'output_height', 1) !== size || getInt(align, 'sampling_ratio', 0) !== samplingRatio))
    throw notFound(`one size and sampling ratio for all levels of a head; ${listNodes(flow, ordered)} differ`);
  const maps = ordered.map(align => align.inputs[0]).filter(map => map !== undefined);
  return { place: { input, size, samplingRatio }, maps, ends: findLastWeighted(flow, input) };
}

const scaleOf = (align: Node): number => getFloat(align, 'spatial_scale', 1);

function findPoolingProblem(model: Model, align: Node, level: number): string | undefined {
  const [height, width] = [getInt(align, 'output_height', 1), getInt(align, 'output_width', 1)];
  if (height !== width) return `gives ${height}×${width}, no square`;
  if (getString(align, 'mode', 'avg') !== 'avg') return `takes the ${getString(align, 'mode', 'avg')}, not the average`;
  const places = getString(align, 'coordinate_transformation_mode', (model.opsets.get('') ?? 1) < 16 ? 'output_half_pixel' : 'half_pixel');
  if (places !== 'output_half_pixel') return `has coordinates ${places}, not output_half_pixel (torchvision's aligned=False)`;
  const scale = 1 / (FINEST_STRIDE * 2 ** level);
  if (scaleOf(align) !== scale) return `has scale ${scaleOf(align)}; at level ${level} it should be ${scale}`;
  return undefined;
}
