/** Finds the parts of an exported Mask R-CNN by what its nodes do, starting from the RoiAlign nodes. Names are not used. */
import type { Dim, Model, Node, ValueId } from '../../../../onnx/ir/model.js';
import { isStatic } from '../../../../onnx/shape-inference/context/dims.js';
import { describeNode, formatDims } from '../../../../onnx/shape-inference/context/node-context.js';
import { findHeads, type LocatedHead } from './locate-heads.js';
import { type Flow, findFirstWeighted, findLastWeighted, outputChannels, readFlow } from './network-flow.js';
import { listNames, listNodes, notFound } from './not-found.js';

/** Values and sizes of the parts in the whole model. */
export interface LocatedParts {
  /** Input of the first convolution: the normalized, padded image. */
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

/**
 * Finds the parts of a Mask R-CNN in `model`. Shapes that follow from the image size must be static, as `import` makes them.
 * @throws DetectionError `maskrcnn-structure` with what was expected and what was found.
 */
export function locateParts(model: Model): LocatedParts {
  const flow = readFlow(model);
  const heads = findHeads(flow, model);
  const [first, second] = heads;
  if (first === undefined || second === undefined || heads.length !== 2)
    throw notFound(`two heads after RoiAlign nodes, one for boxes and one for masks, found ${heads.length}`);
  const features = first.maps;
  if (features.join() !== second.maps.join())
    throw notFound(
      `both heads to pool from the same maps, but one reads ${listNames(flow, features)}, the other ${listNames(flow, second.maps)}`,
    );

  const box = heads.find(head => head.ends.length === 2);
  const mask = heads.find(head => head.ends.length === 1);
  if (box === undefined || mask === undefined)
    throw notFound(
      `a box head with two outputs and a mask head with one, but the heads end in ${heads.map(head => listNodes(flow, head.ends)).join(' and in ')}`,
    );
  const [classEnd, boxEnd] = orderBy(box.ends, node => outputChannels(flow, node));
  const [maskEnd] = mask.ends;
  const classes = classEnd === undefined ? 0 : outputChannels(flow, classEnd);
  if (classEnd === undefined || boxEnd === undefined || outputChannels(flow, boxEnd) !== 4 * classes)
    throw notFound(
      `four box deltas per class, but the box head has ${box.ends.map(node => outputChannels(flow, node)).join(' and ')} values per RoI`,
    );
  if (maskEnd === undefined || outputChannels(flow, maskEnd) !== classes)
    throw notFound(
      `one mask per class, but the mask head has ${mask.ends.map(node => outputChannels(flow, node)).join()} masks and the box head ${classes} classes`,
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

/** Finds the RPN outputs of every feature and of the level pooled from the last one: two parallel convolutions per level. */
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
    throw notFound(`${features.length + 1} levels of the RPN, one per feature and a pooled one, found ${levels.length}`);
  const [anchorsPerCell = 0, ...others] = new Set(levels.map(({ anchors }) => anchors));
  if (others.length > 0)
    throw notFound(`an equal number of anchors on each level, found ${levels.map(({ anchors }) => anchors).join(', ')}`);
  const located = levels.map(({ level }, index): LocatedLevel => {
    const feature = features[index] ?? 'none';
    const size = feature === 'none' ? level : getMapSize(flow, feature);
    if (size.height !== level.height || size.width !== level.width)
      throw notFound(
        `an RPN output of ${size.height}×${size.width} for "${feature === 'none' ? '' : flow.nameOf(feature)}", but the nearest is ${level.height}×${level.width}`,
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
      `two parallel RPN outputs, the second with four values per anchor, but ${listNodes(flow, pair)} have ${pair.map(node => outputChannels(flow, node)).join(' and ')} channels`,
    );
  const { height, width } = getMapSize(flow, endValue(flow, scores));
  return { level: { height, width, objectness: endValue(flow, scores), deltas: endValue(flow, deltas) }, anchors };
}

function findImage(flow: Flow, features: readonly ValueId[]): LocatedParts['image'] {
  const firsts = findFirstWeighted(flow, features);
  const [stem, ...others] = firsts;
  const value = stem?.inputs[0];
  if (stem?.opType !== 'Conv' || value === undefined || others.length > 0)
    throw notFound(`a single first convolution before the features, found ${listNodes(flow, firsts)}`);
  const dims = flow.dimsOf(value);
  const [batch, channels, height, width] = dims ?? [];
  if (!isStatic(dims) || batch !== 1 || channels !== 3 || typeof height !== 'number' || typeof width !== 'number')
    throw notFound(
      `one image [1, 3, height, width] as input of ${describeNode(stem, flow.graph)}, but "${flow.nameOf(value)}" is ${formatDims(dims)}`,
      'pin the input size of the model with `import`',
    );
  return { value, height, width };
}

function getMapSize(flow: Flow, map: ValueId | undefined): { readonly channels: number; readonly height: number; readonly width: number } {
  const dims: readonly Dim[] | undefined = map === undefined ? undefined : flow.dimsOf(map);
  const [, channels, height, width] = dims ?? [];
  if (map === undefined || typeof channels !== 'number' || typeof height !== 'number' || typeof width !== 'number')
    throw notFound(
      `a map of static size, but "${map === undefined ? '' : flow.nameOf(map)}" is ${formatDims(dims)}`,
      'pin the input size of the model with `import`',
    );
  return { channels, height, width };
}

/** The output of a weighted node, after a separate bias addition where there is one. */
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
