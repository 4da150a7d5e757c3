/** Rules of operators that rearrange positions (Resize, DepthToSpace, Flatten), of Gemm, and of those that mix tiles. */
import { getFloat, getInt, getString } from '../ir/attribute.js';
import { both, type NodeOnTiles, readConstant, refuse, type TileRule } from './node-facts.js';
import type { TileFacts } from './tile-facts.js';
import { scaleUp } from './window-rules.js';

const depthToSpace: TileRule = ({ node }, x) => {
  const block = getInt(node, 'blocksize', 1);
  return x.layout === 'flat'
    ? refuse('its input has no spatial axes')
    : [{ ...scaleUp(x, [block, block]), channels: x.channels / block ** 2 }];
};

const resize: TileRule = (on, x) => {
  const { node } = on;
  const mode = getString(node, 'mode', 'nearest');
  if (mode !== 'nearest') return refuse(`${mode} interpolation mixes a tile with its neighbors`);
  if (x.layout === 'flat' || x.scale === 'cells') return refuse('its input has no spatial axes');
  const scales = readConstant(on.constant(node.opType === 'Upsample' ? 1 : 2));
  if (scales?.length !== 4 || node.inputs[3] !== undefined || node.attributes.has('axes'))
    return refuse('it does not state four constant scales; apply the rewrite rule resize-scales first');
  const [batch, channels, ...factors] = scales;
  if (batch !== 1 || channels !== 1 || factors.some(factor => !Number.isInteger(factor) || factor < 1))
    return refuse(`its scales ${scales.join(', ')} are not whole enlargements of height and width`);
  if (node.opType === 'Resize' && !readsOwnPosition(on))
    return refuse('its coordinates read another position than the one that they enlarge');
  return [
    scaleUp(
      x,
      both(axis => factors[axis] ?? 1),
    ),
  ];
};

/** Whether output position o of an enlargement by k reads input position ⌊o / k⌋, for every whole k. */
function readsOwnPosition({ node }: NodeOnTiles): boolean {
  const transform = getString(node, 'coordinate_transformation_mode', 'half_pixel');
  const rounding = getString(node, 'nearest_mode', 'round_prefer_floor');
  if (transform === 'asymmetric') return rounding === 'floor';
  return (transform === 'half_pixel' || transform === 'pytorch_half_pixel') && rounding.startsWith('round_');
}

const flatten: TileRule = (on, x) => {
  const axis = getInt(on.node, 'axis', 1);
  return axis === 1 || axis === -3 ? [{ ...x, layout: 'flat' }] : refuse(`it flattens from axis ${axis}, expected 1`);
};

/** A Reshape of each row to a vector. */
const reshape: TileRule = (on, x) => {
  const shape = readConstant(on.constant(1));
  const size = x.channels * x.tile[0] * x.tile[1];
  if (shape?.length !== 2 || (shape[1] !== -1 && shape[1] !== size))
    return refuse('only a Reshape of each row to a vector is known to keep tiles');
  return [{ ...x, layout: 'flat' }];
};

/** Becomes a Conv over one tile. */
const gemm: TileRule = (on, x) => {
  const { node } = on;
  if (x.layout !== 'flat' || on.find(0) === undefined) return refuse('its first input is not a flattened tile');
  const weight = on.constant(1);
  if (weight === undefined) return refuse('its weight is not constant');
  if (getFloat(node, 'alpha', 1) !== 1 || getFloat(node, 'beta', 1) !== 1 || getInt(node, 'transA', 0) !== 0)
    return refuse('it has alpha, beta or transA');
  const [rows = 0, columns = 0] = weight.dims;
  const outputs = getInt(node, 'transB', 0) === 1 ? rows : columns;
  const bias = on.constant(2);
  const biasSize = bias?.dims.reduce((product, dim) => product * dim, 1);
  if (node.inputs[2] !== undefined && biasSize !== outputs) return refuse('its bias is not one number per output');
  return [{ channels: outputs, tile: [1, 1], scale: 'cells', layout: 'flat', gap: 'unknown', sign: 'any' } satisfies TileFacts];
};

const mixesTiles: TileRule = () => refuse('it computes over all positions of its input, and so over all tiles');

const matMul: TileRule = () => refuse('only Gemm is known to become a Conv; `simplify` makes a Gemm of a MatMul and an Add');

export const SHAPE_RULES: Readonly<Record<string, TileRule>> = {
  DepthToSpace: depthToSpace,
  Resize: resize,
  Upsample: resize,
  Flatten: flatten,
  Reshape: reshape,
  Gemm: gemm,
  MatMul: matMul,
  ...Object.fromEntries(
    [
      'GlobalAveragePool',
      'GlobalMaxPool',
      'ReduceMean',
      'ReduceMax',
      'ReduceSum',
      'InstanceNormalization',
      'GroupNormalization',
      'LayerNormalization',
      'LpNormalization',
      'MeanVarianceNormalization',
      'Softmax',
      'LogSoftmax',
    ].map(opType => [opType, mixesTiles]),
  ),
};
