/** Rewrite rule `affine-conv`: per-channel arithmetic before a Conv, such as image normalization, is folded into its weight and bias. */
import { findInts, getInt, getString, ints } from '../../../ir/attribute.js';
import type { Attribute, Node, ValueId } from '../../../ir/model.js';
import { type NewConstant, newNode, outputOf, type PatchNode, patch, type Ref } from '../../../rewrite/patch.js';
import { any, constant, op, optional } from '../../../rewrite/pattern.js';
import { decline, type Match, type RuleCode } from '../../../rewrite/rule.js';
import { findFloat32, newFloats, newInts } from '../../shared/constants.js';

/** From this opset on, Pad takes its pads as an input. */
const PADS_INPUT = 11;
const STEPS = ['Mul', 'Div', 'Add', 'Sub'];

/** The current input of the Conv in terms of its future input `source`: source · scale + shift, per input channel. */
interface Affine {
  readonly source: ValueId;
  readonly scale: Float64Array;
  readonly shift: Float64Array;
  /** In order from the Conv to the source. */
  readonly nodes: readonly Node[];
}

/**
 * W · (x·s + t) = (W·s)·x + W·t. The zeros that the Conv pads with correspond to −t/s before the affine map: with a shift, a Pad with that value is inserted.
 * If the value differs between channels, the border would change, and the rule declines.
 */
export const foldAffineIntoConv: RuleCode = {
  proofText: 'Factors and offsets per channel before a Conv are folded into its weight and bias; products and sums round in another order.',
  pattern: op('Conv', { inputs: [any('x'), constant('weight'), optional(constant('bias'))] }),
  rewrite(match) {
    const weight = findFloat32(match.constant('weight'));
    const bias = findFloat32(match.findConstant('bias'));
    if (weight === undefined || (match.find('bias') !== undefined && bias === undefined))
      return decline('its weight or bias is not float32', match.node);
    const affine = findAffine(match, (weight.dims[1] ?? 0) * getInt(match.node, 'group', 1));
    if (typeof affine === 'string') return decline(affine, match.node);
    const border = findBorder(match, affine);
    if (typeof border === 'string') return decline(border, match.node);
    const folded = fold(weight.data, weight.dims, getInt(match.node, 'group', 1), affine);
    const biases = folded.shift.map((shift, index) => shift + (bias?.data[index] ?? 0));
    if (![...folded.weight, ...biases].every(value => Number.isFinite(Math.fround(value))))
      return decline('a product is not finite', match.node);
    const weightName = match.nameOf(match.value('weight'));
    const conv = newNode('Conv', {
      name: match.node.name,
      inputs: [
        border.pad === undefined ? affine.source : outputOf(border.pad),
        newFloats(weightName, weight.dims, folded.weight),
        newFloats(match.find('bias') === undefined ? `${weightName}_bias` : match.nameOf(match.value('bias')), [biases.length], biases),
      ],
      attributes: border.attributes,
    });
    return patch({
      add: border.pad === undefined ? [conv] : [border.pad, conv],
      replace: [[match.output(), outputOf(conv)]],
      also: affine.nodes,
    });
  },
};

function findAffine(match: Match, channels: number): Affine | string {
  const nodes: Node[] = [];
  let source = match.value('x');
  let reader = match.node;
  const scale = new Float64Array(channels).fill(1);
  const shift = new Float64Array(channels);
  for (;;) {
    const step = STEPS.map(opType => match.producerOf(source, opType)).find(node => node !== undefined);
    const read = step === undefined || match.soleReader(source) !== reader ? undefined : readStep(match, step, channels);
    if (step === undefined || read === undefined) break;
    for (let channel = 0; channel < channels; channel++) {
      shift[channel] = (scale[channel] ?? 1) * (read.shift[channel] ?? 0) + (shift[channel] ?? 0);
      scale[channel] = (scale[channel] ?? 1) * (read.scale[channel] ?? 1);
    }
    nodes.push(step);
    reader = step;
    source = read.x;
  }
  if (nodes.length === 0) return 'its input does not come from a Mul, Div, Add or Sub by a constant per channel that it alone reads';
  return { source, scale, shift, nodes };
}

function readStep(match: Match, node: Node, channels: number): { x: ValueId; scale: Float64Array; shift: Float64Array } | undefined {
  const [a, b] = node.inputs;
  if (a === undefined || b === undefined) return undefined;
  const isFirst = match.constantOf(a) !== undefined;
  const [x, operand] = isFirst ? [b, a] : [a, b];
  const rank = match.type(x).dims?.length;
  const values = rank === undefined ? undefined : perChannel(match, operand, rank, channels);
  // A single channel would be broadcast to the channels of the constant.
  const widens = values !== undefined && match.constantOf(operand)?.dims.some(dim => dim > 1) && match.type(x).dims?.[1] !== channels;
  if (widens) return undefined;
  if (values === undefined || (isFirst && node.opType === 'Div') || rank !== match.type(node.outputs[0] ?? x).dims?.length)
    return undefined;
  const [ones, zeros] = [new Float64Array(channels).fill(1), new Float64Array(channels)];
  if (node.opType === 'Mul') return { x, scale: values, shift: zeros };
  if (node.opType === 'Div') return { x, scale: values.map(value => 1 / value), shift: zeros };
  if (node.opType === 'Add') return { x, scale: ones, shift: values };
  return isFirst ? { x, scale: ones.map(value => -value), shift: values } : { x, scale: ones, shift: values.map(value => -value) };
}

/** A float32 constant that varies along axis 1 only, as one value per channel. */
function perChannel(match: Match, id: ValueId, rank: number, channels: number): Float64Array | undefined {
  const floats = findFloat32(match.constantOf(id));
  if (floats === undefined || floats.dims.length > rank) return undefined;
  if (floats.data.length === 1) return new Float64Array(channels).fill(floats.data[0] ?? 0);
  const offset = rank - floats.dims.length;
  const isAlong = offset <= 1 && floats.dims.every((dim, axis) => dim === (axis + offset === 1 ? channels : 1));
  return isAlong ? Float64Array.from(floats.data) : undefined;
}

interface Border {
  readonly pad: PatchNode | undefined;
  readonly attributes: ReadonlyMap<string, Attribute>;
}

/** The padding afterwards: by the Conv if there is no shift, else by a Pad with the value that maps to zero, if it is the same for all channels. */
function findBorder(match: Match, { scale, shift, source }: Affine): Border | string {
  const { node } = match;
  const pads = findInts(node, 'pads') ?? [];
  const autoPad = getString(node, 'auto_pad', 'NOTSET');
  const isPadded = pads.some(pad => pad !== 0) || autoPad.startsWith('SAME');
  if (!isPadded || shift.every(value => value === 0)) return { pad: undefined, attributes: node.attributes };
  const values = shift.map((value, channel) => Math.fround(-value / (scale[channel] ?? 1)));
  const [value = 0] = values;
  if (!Number.isFinite(value) || values.some(other => other !== value))
    return 'it pads with zeros, which correspond to different values per channel before the offset: the border would change';
  if (autoPad !== 'NOTSET') return 'it uses auto_pad, and there is an offset';
  if (match.opset < PADS_INPUT) return `it pads and there is an offset, which needs opset ${PADS_INPUT}; the model has ${match.opset}`;
  const half = pads.length / 2;
  const base = match.nameOf(match.output());
  const inputs: readonly (Ref | NewConstant)[] = [
    source,
    newInts(`${base}_pads`, [0, 0, ...pads.slice(0, half), 0, 0, ...pads.slice(half)]),
    newFloats(`${base}_border`, [], [value]),
  ];
  const pad = newNode('Pad', { name: node.name && `${node.name}/pad`, inputs });
  return { pad, attributes: new Map([...node.attributes, ['pads', ints(pads.map(() => 0))] as const]) };
}

/** The folded weight and the sum of weight · shift per output, in double precision. */
function fold(
  weight: Float32Array,
  [outputs = 0, perGroup = 0, ...kernel]: readonly number[],
  groups: number,
  { scale, shift }: Affine,
): { weight: Float64Array; shift: Float64Array } {
  const area = kernel.reduce((product, size) => product * size, 1);
  const scaled = new Float64Array(weight.length);
  const sums = new Float64Array(outputs);
  for (let output = 0, at = 0; output < outputs; output++) {
    const first = Math.floor(output / (outputs / groups)) * perGroup;
    for (let input = 0; input < perGroup; input++) {
      for (let place = 0; place < area; place++, at++) {
        const value = weight[at] ?? 0;
        scaled[at] = value * (scale[first + input] ?? 1);
        sums[output] = (sums[output] ?? 0) + value * (shift[first + input] ?? 0);
      }
    }
  }
  return { weight: scaled, shift: sums };
}
