/** Where in an exported Mask R-CNN are the parts that an NPU runs? Found by what the nodes do, from the RoiAligns outwards; names are not looked at. */
import { getFloat, getInt, getString } from '../../onnx/ir/attribute.js';
import type { Dim, Model, Node, ValueId } from '../../onnx/ir/model.js';
import { isStatic } from '../../onnx/shape-inference/dims.js';
import { describeNode, formatDims } from '../../onnx/shape-inference/node-context.js';
import { DetectionError } from '../detection-error.js';
import { FINEST_STRIDE } from './make-recipe.js';
import { type Flow, findFirstWeighted, findLastWeighted, findNextWeighted, outputChannels, readFlow } from './network-flow.js';

/** Values of the whole model, and what its nodes say of sizes. */
export interface LocatedParts {
  /** What the first convolution reads: normalised, padded. */
  readonly image: { readonly value: ValueId; readonly height: number; readonly width: number };
  /** Finest first; the last has no feature. */
  readonly levels: readonly LocatedLevel[];
  readonly channels: number;
  readonly anchorsPerCell: number;
  readonly classes: number;
  readonly boxHead: LocatedHead & { readonly classLogits: ValueId; readonly boxRegression: ValueId };
  readonly maskHead: LocatedHead & { readonly maskLogits: ValueId };
}

export interface LocatedLevel {
  readonly height: number;
  readonly width: number;
  readonly feature: ValueId | 'none';
  readonly objectness: ValueId;
  readonly deltas: ValueId;
}

export interface LocatedHead {
  readonly input: ValueId;
  readonly size: number;
  readonly samplingRatio: number;
}

/**
 * Finds the parts of a Mask R-CNN in `model`, whose shapes are static as far as an image of one size makes them so: as `import` leaves them.
 * @throws DetectionError `maskrcnn-structure`, saying which piece was looked for and what was found instead.
 */
export function locateParts(model: Model): LocatedParts {
  const flow = readFlow(model);
  const heads = findHeads(flow, model);
  const [first, second] = heads;
  if (first === undefined || second === undefined || heads.length !== 2)
    throw notFound(`two heads behind RoiAlign nodes, one for boxes and one for masks; ${heads.length} are there`);
  const features = first.maps;
  if (features.join() !== second.maps.join())
    throw notFound(
      `both heads pooling from the same maps; one reads ${listNames(flow, features)}, the other ${listNames(flow, second.maps)}`,
    );

  const box = heads.find(head => head.ends.length === 2);
  const mask = heads.find(head => head.ends.length === 1);
  if (box === undefined || mask === undefined)
    throw notFound(
      `a box head with two outputs and a mask head with one; the heads end in ${heads.map(head => listNodes(flow, head.ends)).join(' and in ')}`,
    );
  const [classEnd, boxEnd] = orderBy(box.ends, node => outputChannels(flow, node));
  const [maskEnd] = mask.ends;
  const classes = classEnd === undefined ? 0 : outputChannels(flow, classEnd);
  if (classEnd === undefined || boxEnd === undefined || outputChannels(flow, boxEnd) !== 4 * classes)
    throw notFound(
      `four box offsets per class; the box head gives ${box.ends.map(node => outputChannels(flow, node)).join(' and ')} values per RoI`,
    );
  if (maskEnd === undefined || outputChannels(flow, maskEnd) !== classes)
    throw notFound(
      `a mask per class; the mask head gives ${mask.ends.map(node => outputChannels(flow, node)).join()}, the box head has ${classes} classes`,
    );

  const { levels, anchorsPerCell } = findLevels(flow, features);
  return {
    image: findImage(flow, features),
    levels,
    channels: getMapSize(flow, features[0]).channels,
    anchorsPerCell,
    classes,
    boxHead: { ...box.place, classLogits: endValue(flow, classEnd), boxRegression: endValue(flow, boxEnd) },
    maskHead: { ...mask.place, maskLogits: endValue(flow, maskEnd) },
  };
}

interface FoundHead {
  readonly place: LocatedHead;
  /** The maps that it is pooled from, finest first. */
  readonly maps: readonly ValueId[];
  /** Its last weighted nodes. */
  readonly ends: readonly Node[];
}

/** RoiAligns whose results meet in one value, however they are scattered and joined, feed one head. */
function findHeads(flow: Flow, model: Model): readonly FoundHead[] {
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

/** The RPN head stands behind every feature, and behind the one pooled from the last: two convolutions side by side per level. */
function findLevels(
  flow: Flow,
  features: readonly ValueId[],
): { readonly levels: readonly LocatedLevel[]; readonly anchorsPerCell: number } {
  const ends = new Set(features.flatMap(feature => findLastWeighted(flow, feature)));
  const pairs = new Map<ValueId | undefined, Node[]>();
  for (const end of ends) pairs.set(end.inputs[0], [...(pairs.get(end.inputs[0]) ?? []), end]);
  const levels = orderBy(
    [...pairs.values()].map(pair => readLevel(flow, pair)),
    ({ level }) => -level.height * level.width,
  );
  if (levels.length !== features.length + 1)
    throw notFound(`${features.length + 1} levels of the RPN: one per feature and a pooled one; ${levels.length} are there`);
  const [anchorsPerCell = 0, ...others] = new Set(levels.map(({ anchors }) => anchors));
  if (others.length > 0) throw notFound(`as many anchors on each level; they are ${levels.map(({ anchors }) => anchors).join(', ')}`);
  const located = levels.map(({ level }, index): LocatedLevel => {
    const feature = features[index] ?? 'none';
    const size = feature === 'none' ? level : getMapSize(flow, feature);
    if (size.height !== level.height || size.width !== level.width)
      throw notFound(
        `an RPN output of ${size.height}×${size.width} for "${feature === 'none' ? '' : flow.nameOf(feature)}"; the nearest is ${level.height}×${level.width}`,
      );
    return { ...level, feature };
  });
  return { levels: located, anchorsPerCell };
}

function readLevel(flow: Flow, pair: readonly Node[]): { readonly level: Omit<LocatedLevel, 'feature'>; readonly anchors: number } {
  const [scores, deltas] = orderBy(pair, node => outputChannels(flow, node));
  const anchors = scores === undefined ? 0 : outputChannels(flow, scores);
  if (scores === undefined || deltas === undefined || pair.length !== 2 || outputChannels(flow, deltas) !== 4 * anchors)
    throw notFound(
      `two RPN outputs side by side, the second with four values per anchor; ${listNodes(flow, pair)} give ${pair.map(node => outputChannels(flow, node)).join(' and ')}`,
    );
  const { height, width } = getMapSize(flow, endValue(flow, scores));
  return { level: { height, width, objectness: endValue(flow, scores), deltas: endValue(flow, deltas) }, anchors };
}

function findImage(flow: Flow, features: readonly ValueId[]): LocatedParts['image'] {
  const firsts = findFirstWeighted(flow, features);
  const [stem, ...others] = firsts;
  const value = stem?.inputs[0];
  if (stem?.opType !== 'Conv' || value === undefined || others.length > 0)
    throw notFound(`one first convolution behind the features; there are ${listNodes(flow, firsts)}`);
  const dims = flow.dimsOf(value);
  const [batch, channels, height, width] = dims ?? [];
  if (!isStatic(dims) || batch !== 1 || channels !== 3 || typeof height !== 'number' || typeof width !== 'number')
    throw notFound(
      `one image [1, 3, height, width] before ${describeNode(stem, flow.graph)}; "${flow.nameOf(value)}" is ${formatDims(dims)}`,
      'pin the size of the model’s input by `import`, which folds what follows from it',
    );
  return { value, height, width };
}

function getMapSize(flow: Flow, map: ValueId | undefined): { readonly channels: number; readonly height: number; readonly width: number } {
  const dims: readonly Dim[] | undefined = map === undefined ? undefined : flow.dimsOf(map);
  const [, channels, height, width] = dims ?? [];
  if (map === undefined || typeof channels !== 'number' || typeof height !== 'number' || typeof width !== 'number')
    throw notFound(
      `a map of known size; "${map === undefined ? '' : flow.nameOf(map)}" is ${formatDims(dims)}`,
      'pin the size of the model’s input by `import`, which folds what follows from it',
    );
  return { channels, height, width };
}

/** What a weighted node gives, a bias that is added after it included. */
function endValue(flow: Flow, node: Node): ValueId {
  const [output] = node.outputs;
  if (output === undefined) throw notFound(`an output of ${describeNode(node, flow.graph)}`);
  const [reader, ...others] = flow.readersOf(output);
  const added = reader?.opType === 'Add' && others.length === 0 && reader.inputs.some(input => flow.constantOf(input) !== undefined);
  return node.opType === 'MatMul' && added ? (reader.outputs[0] ?? output) : output;
}

function orderBy<T>(items: readonly T[], key: (item: T) => number): readonly T[] {
  return [...items].sort((a, b) => key(a) - key(b));
}

const listNodes = (flow: Flow, nodes: readonly Node[]): string => nodes.map(node => describeNode(node, flow.graph)).join(', ') || 'nothing';
const listNames = (flow: Flow, values: readonly ValueId[]): string => values.map(value => `"${flow.nameOf(value)}"`).join(', ');

function notFound(wanted: string, help = 'this recipe reads torchvision’s Mask R-CNN; cut other models by `parts`'): DetectionError {
  return new DetectionError('maskrcnn-structure', `the model is no Mask R-CNN that the recipe knows: expected ${wanted}`, { help });
}
