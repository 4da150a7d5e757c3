/** Rules of operators that compute each position on its own: activations, Q and DQ, arithmetic, Concat, Split. */
import { findInts, getInt } from '../ir/attribute.js';
import { isInferenceBatchNormalization } from '../ir/operator-traits.js';
import { type NodeOnTiles, readConstant, refuse, type TileRule } from './node-facts.js';
import { sameCanvas, type TileFacts } from './tile-facts.js';

/** f(0) = 0; the sign is kept or unknown. */
const keepsZero =
  (sign: 'kept' | 'nonnegative' | 'any'): TileRule =>
  (_, x) => [{ ...x, sign: sign === 'kept' ? x.sign : sign }];

/** f(0) ≠ 0, f ≥ 0 */
const toPositive: TileRule = (_, x) => [{ ...x, gap: 'unknown', sign: 'nonnegative' }];

const clip: TileRule = (on, x) => {
  const bound = (index: number, open: number): number | undefined =>
    on.node.inputs[index] === undefined ? open : readConstant(on.constant(index))?.[0];
  const [low, high] = [bound(1, Number.NEGATIVE_INFINITY), bound(2, Number.POSITIVE_INFINITY)];
  if (low === undefined || high === undefined) return refuse('its bounds are not constant');
  const sign = high < 0 ? 'any' : low >= 0 ? 'nonnegative' : x.sign;
  return [{ ...x, gap: low <= 0 && high >= 0 ? x.gap : 'unknown', sign }];
};

const LOWEST: Readonly<Record<string, number>> = { int8: -128, uint8: 0, int16: -32768, uint16: 0 };

/** Zero is an integer of every quantized tensor, so that zero gaps stay zero. */
const quantizer: TileRule = (on, x) => {
  const scales = on.constant(1);
  const zeroPoint = on.constant(2);
  if (scales === undefined) return refuse('its scale is not constant');
  const isFlat = x.layout === 'flat' || x.scale === 'cells';
  if (scales.dims.length > 0 && scales.dims[0] !== 1 && isFlat) return refuse('it has several scales along a flattened axis');
  const lowest = zeroPoint === undefined ? undefined : LOWEST[zeroPoint.dtype];
  const isLow = lowest !== undefined && (readConstant(zeroPoint)?.every(zero => zero === lowest) ?? false);
  return [{ ...x, sign: isLow ? 'nonnegative' : x.sign }];
};

const batchNormalization: TileRule = (on, x) =>
  isInferenceBatchNormalization(on.node) ? [{ ...x, gap: 'unknown', sign: 'any' }] : refuse('it takes statistics over all tiles');

const dropout: TileRule = (on, x) => (on.node.outputs.length > 1 ? refuse('its mask is read') : [x]);

/** Add, Sub, Mul, Div of two values on equal canvases, or of one and a constant per channel. */
const binary: TileRule = on => {
  const [a, b] = [on.find(0), on.find(1)];
  const { opType } = on.node;
  if (a !== undefined && b !== undefined) {
    if (opType === 'Div') return refuse('it may divide by the zeros between tiles');
    if (!sameCanvas(a, b)) return refuse(`its inputs lie on different canvases: ${describe(a)} and ${describe(b)}`);
    const nonnegative = opType !== 'Sub' && a.sign === 'nonnegative' && b.sign === 'nonnegative';
    const isZero = opType === 'Mul' ? a.gap === 'zero' || b.gap === 'zero' : a.gap === 'zero' && b.gap === 'zero';
    return [{ ...a, gap: isZero ? 'zero' : 'unknown', sign: nonnegative ? 'nonnegative' : 'any' }];
  }
  const x = a ?? b;
  const constant = on.constant(a === undefined ? 0 : 1);
  if (x === undefined || constant === undefined) return refuse('one of its inputs is neither on tiles nor constant');
  if (opType === 'Div' && a === undefined) return refuse('it may divide by the zeros between tiles');
  if (!isPerChannel(constant.dims, x)) return refuse(`its constant [${constant.dims.join(', ')}] differs within a tile`);
  const keeps = opType === 'Mul' || opType === 'Div';
  return [{ ...x, gap: keeps ? x.gap : 'unknown', sign: 'any' }];
};

function isPerChannel(dims: readonly number[], { layout, tile }: TileFacts): boolean {
  if (dims.every(dim => dim === 1)) return true;
  if (layout === 'flat') return tile[0] * tile[1] === 1 && dims.slice(0, -1).every(dim => dim === 1);
  const [width = 1, height = 1, , batch = 1] = [...dims].reverse();
  return dims.length >= 3 && width === 1 && height === 1 && batch === 1;
}

const prelu: TileRule = (on, x) => {
  const slope = on.constant(1);
  if (slope === undefined) return refuse('its slope is not constant');
  return isPerChannel(slope.dims, x) && (x.layout === 'map' || slope.dims.every(dim => dim === 1))
    ? [{ ...x, sign: 'any' }]
    : refuse(`its slope [${slope.dims.join(', ')}] differs within a tile`);
};

const concat: TileRule = on => {
  const parts = on.node.inputs.map((_, index) => on.find(index));
  const known = parts.filter(part => part !== undefined);
  const [first] = known;
  if (first === undefined || known.length < parts.length) return refuse('it joins tiles with a constant');
  if (!isChannelAxis(on, first)) return refuse(`it joins along axis ${getInt(on.node, 'axis', 1)}, which is not that of channels`);
  const other = known.find(part => !sameCanvas(part, first));
  if (other !== undefined) return refuse(`its inputs lie on different canvases: ${describe(first)} and ${describe(other)}`);
  return [
    {
      ...first,
      channels: known.reduce((sum, { channels }) => sum + channels, 0),
      gap: known.every(({ gap }) => gap === 'zero') ? 'zero' : 'unknown',
      sign: known.every(({ sign }) => sign === 'nonnegative') ? 'nonnegative' : 'any',
    },
  ];
};

const split: TileRule = (on, x) => {
  if (!isChannelAxis(on, x)) return refuse(`it cuts along axis ${getInt(on.node, 'axis', 0)}, which is not that of channels`);
  const sizes = findInts(on.node, 'split') ?? readConstant(on.constant(1)) ?? equalParts(x.channels, on.node.outputs.length);
  if (sizes === undefined) return refuse('its parts have no equal size');
  return sizes.map(channels => ({ ...x, channels }));
};

function equalParts(channels: number, parts: number): readonly number[] | undefined {
  return channels % parts === 0 ? Array.from({ length: parts }, () => channels / parts) : undefined;
}

/** Axis 1, and of a flattened value only where each tile is one position. */
function isChannelAxis({ node }: NodeOnTiles, { layout, tile }: TileFacts): boolean {
  const axis = getInt(node, 'axis', node.opType === 'Split' ? 0 : 1);
  const rank = layout === 'flat' ? 2 : 4;
  return (axis === 1 || axis === 1 - rank) && (layout === 'map' || tile[0] * tile[1] === 1);
}

function describe({ tile, scale, layout }: TileFacts): string {
  const size = layout === 'flat' ? 'flattened tiles' : `tiles of ${tile.join(' × ')}`;
  return scale === 'cells' ? `${size} at pitch 1` : `${size} at ${scale.map(({ up, down }) => `${up}/${down}`).join(' × ')} of the pitch`;
}

export const ELEMENTWISE_RULES: Readonly<Record<string, TileRule>> = {
  Identity: keepsZero('kept'),
  Relu: keepsZero('nonnegative'),
  Abs: keepsZero('nonnegative'),
  LeakyRelu: keepsZero('any'),
  Neg: keepsZero('any'),
  Tanh: keepsZero('kept'),
  HardSwish: keepsZero('any'),
  Elu: keepsZero('any'),
  Gelu: keepsZero('any'),
  Sigmoid: toPositive,
  HardSigmoid: toPositive,
  Clip: clip,
  PRelu: prelu,
  Dropout: dropout,
  BatchNormalization: batchNormalization,
  QuantizeLinear: quantizer,
  DequantizeLinear: quantizer,
  Add: binary,
  Sub: binary,
  Mul: binary,
  Div: binary,
  Concat: concat,
  Split: split,
};
