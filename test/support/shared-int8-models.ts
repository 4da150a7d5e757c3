/**
 * Models in which layers share int8 constants, in graphs and subgraphs, as text. Their integers make pairs of products above 2¹⁵, which saturate in
 * kernels of 16 bits, and float32 holds all their sums exactly.
 */
import ort from 'onnxruntime-node';
import type { Model } from '../../src/onnx/ir/model.js';
import { scopesOf } from '../../src/onnx/ir/scope.js';

const shape = 'float[1, 8, 6, 6]';
const listOf = (values: readonly number[]): string => `{${values.join(', ')}}`;
const WEIGHT = Array.from({ length: 576 }, (_, index) => (index % 7 === 0 ? -128 : 127));
const weight = `int8[8, 8, 3, 3] weight = ${listOf(WEIGHT)}, int8 zero = {0}`;
const scales = 'float one = {1}, float large = {8192}, float larger = {67108864}, uint8 u = {0}';
const constants = `<${weight}, ${scales}>`;

const quantize = (from: string, scale: string, to: string): string =>
  `${to}q = QuantizeLinear(${from}, ${scale}, u) ${to} = DequantizeLinear(${to}q, ${scale}, u) `;
const conv = (from: string, by: string, to: string): string => `${to} = Conv<pads = [1, 1, 1, 1]>(${from}, ${by}) `;
const dequantize = (to: string): string => `${to} = DequantizeLinear(weight, one, zero) `;

/** A layer from `x` to `y`, whose values begin with `prefix`. */
const layer = (prefix: string, from: string, by: string, scale: string, to: string): string =>
  quantize(from, scale, `${prefix}a`) +
  conv(`${prefix}a`, by, `${prefix}c`) +
  quantize(`${prefix}c`, scale === 'one' ? 'large' : 'larger', to);
/** Two layers with one weight. */
const layers = (prefix: string, from: string, first: string, second: string, to: string): string =>
  layer(`${prefix}1`, from, first, 'one', `${prefix}m`) + layer(`${prefix}2`, `${prefix}m`, second, 'large', to);

const plain = (head: string, body: string, own = constants): string =>
  `<ir_version: 8, opset_import: ["": 17]> g (${shape} x${head}) => (${shape} y) ${own} { ${body} }`;
const branches = (then: string, other: string, own = ''): string =>
  `y = If<then_branch = t () => (${shape} ty) ${own} { ${then} }, else_branch = e () => (${shape} ey) ${own} { ${other} }>(flag)`;
const loop = (body: string, own = ''): string =>
  `y = Loop<body = l (int64 i, bool go, ${shape} lx) => (bool on, ${shape} ly) ${own} { on = Identity(go) ${body} }>(count, flag, x)`;

const flagged = (body: string, own?: string): string => plain(', bool flag', body, own);
const counted = (body: string, own?: string): string => plain(', int64 count, bool flag', body, own);
const relu = (from: string): string => `ey = Relu(${from})`;

/** ONNX Runtime loads none of them where it keeps sums of int8 weights from saturating. Each needs no input but `x`, `flag` and `count`. */
export const SHARED_INT8: Readonly<Record<string, string>> = {
  'one dequantization': plain('', `${dequantize('w')}${layers('p', 'x', 'w', 'w', 'y')}`),
  'the outputs of Constants': plain(
    '',
    `weight = Constant<value = int8[8, 8, 3, 3] ${listOf(WEIGHT)}>() zero = Constant<value = int8 {0}>() ` +
      `${dequantize('w')}${dequantize('v')}${layers('p', 'x', 'w', 'v', 'y')}`,
    `<${scales}>`,
  ),
  'constants of each branch of If': flagged(
    branches(
      `${dequantize('tw')}${layers('t', 'x', 'tw', 'tw', 'ty')}`,
      `${dequantize('ew')}${dequantize('ev')}${layers('e', 'x', 'ew', 'ev', 'ey')}`,
      constants,
    ),
    '',
  ),
  'constants of the body of Loop': counted(loop(`${dequantize('w')}${dequantize('v')}${layers('l', 'lx', 'w', 'v', 'ly')}`, constants), ''),
  'constants that a branch of If also reads': flagged(
    `${dequantize('w')}${layers('p', 'x', 'w', 'w', 'm')}` +
      branches(`weight_2 = Identity(weight) w_1 = Relu(m) weight_1 = DequantizeLinear(weight_2, one, zero) ty = Add(w_1, m)`, relu('m')),
  ),
  'a dequantization outside and in a branch of If': flagged(
    `${dequantize('w')}${layer('p', 'x', 'w', 'one', 'm')}${branches(layer('t', 'm', 'w', 'large', 'ty'), relu('m'))}`,
  ),
};

/** The int8 initializers of a graph that its nodes read more than once. */
export function sharedInt8Of(model: Model): readonly string[] {
  return [...scopesOf(model)].flatMap(({ graph }) => {
    const read = [...graph.nodes.values()].flatMap(({ inputs }) => inputs);
    const isShared = (id: (typeof read)[number]) => read.filter(input => input === id).length > 1;
    return [...graph.values.values()].flatMap(({ id, name, constant }) => (constant?.dtype === 'int8' && isShared(id) ? [name] : []));
  });
}

/**
 * The results with `flag` and without. 'float': without optimizations, so that all is computed in float32. 'integers': by integer kernels that do not
 * saturate, in a session that loads the bytes as they are.
 */
export async function runSharedInt8(model: Uint8Array, how: 'float' | 'integers'): Promise<readonly unknown[]> {
  const session = await ort.InferenceSession.create(model, {
    logSeverityLevel: 4,
    graphOptimizationLevel: how === 'float' ? 'disabled' : 'all',
    extra: { session: how === 'float' ? {} : { x64quantprecision: '1' } },
  });
  const results: unknown[] = [];
  for (const flag of [true, false]) {
    const feeds: Record<string, ort.Tensor> = {
      x: new ort.Tensor('float32', new Float32Array(288).fill(255), [1, 8, 6, 6]),
      flag: new ort.Tensor('bool', [flag], []),
      count: new ort.Tensor('int64', [2n], []),
    };
    const read = Object.entries(feeds).filter(([name]) => session.inputNames.includes(name));
    results.push(Object.entries(await session.run(Object.fromEntries(read))).map(([name, { data }]) => [name, data]));
  }
  await session.release();
  return results;
}
