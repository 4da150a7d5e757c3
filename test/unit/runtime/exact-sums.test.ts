/** Sums of int8 kernels are exact on every processor, also of models whose layers share int8 constants: against integers and doubles, node by node. */
import { ints } from '../../../src/onnx/ir/attribute.js';
import type { Constant } from '../../../src/onnx/ir/model.js';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { openPlainExecutor } from '../../../src/quant/simulate/plain/executor.js';
import { openSession } from '../../../src/runtime/session/session.js';
import { encodeRawTensor } from '../../../src/tensor/raw-tensor.js';
import { makeTensor } from '../../../src/tensor/tensor.js';
import { type SmallNode, smallModel } from '../../support/small-model.js';

const dims = [1, 8, 6, 6];
const feeds = { x: makeTensor('float32', dims, new Float32Array(8 * 36).fill(255)) };
const scalar = (value: number): Constant => encodeRawTensor(makeTensor('float32', [], new Float32Array([value])));
const pads = { pads: ints([1, 1, 1, 1]) };

const constants = {
  one: scalar(1),
  // The sums of 8 × 9 products of up to 255 and 127 fill the 255 steps. With powers of two, float32 holds all sums exactly.
  large: scalar(2 ** 13),
  larger: scalar(2 ** 26),
  u: encodeRawTensor(makeTensor('uint8', [], new Uint8Array([0]))),
  zero: encodeRawTensor(makeTensor('int8', [], new Int8Array([0]))),
  // Pairs of products are above 2¹⁵, which saturates in 16 bits.
  weight: encodeRawTensor(
    makeTensor(
      'int8',
      [8, 8, 3, 3],
      new Int8Array(576).map((_, index) => (index % 7 === 0 ? -128 : 127)),
    ),
  ),
};

const quantize = (from: string, scale: string, to: string): SmallNode[] => [
  { op: 'QuantizeLinear', in: [from, scale, 'u'], out: [`${to}_q`] },
  { op: 'DequantizeLinear', in: [`${to}_q`, scale, 'u'], out: [to] },
];
const dequantizer = (to: string): SmallNode => ({ op: 'DequantizeLinear', in: ['weight', 'one', 'zero'], out: [to] });
const conv = (from: string, weight: string, to: string): SmallNode => ({ op: 'Conv', in: [from, weight], out: [to], attributes: pads });

/** Two layers with one weight. @param second the weight of the second one. @param between nodes before it. */
const chain = (second: string, between: readonly SmallNode[] = []): SmallNode[] => [
  ...quantize('x', 'one', 'a'),
  dequantizer('w1'),
  conv('a', 'w1', 'c1'),
  ...quantize('c1', 'large', 'b'),
  ...between,
  conv('b', second, 'c2'),
  ...quantize('c2', 'larger', 'y'),
];

it.each<[string, readonly SmallNode[], readonly string[]]>([
  ['one dequantization', chain('w1'), ['y']],
  ['the weight and the zero point', chain('w2', [dequantizer('w2')]), ['y']],
  [
    'the zero point, behind Identity',
    chain('w2', [
      { op: 'Identity', in: ['zero'], out: ['same'] },
      { op: 'DequantizeLinear', in: ['weight', 'one', 'same'], out: ['w2'] },
    ]),
    ['y'],
  ],
  ['one dequantization, which is also an output', chain('w1'), ['y', 'w1']],
])('two layers that share %s', async (_, nodes, outputs) => {
  const model = smallModel({ inputs: { x: ['float32', dims] }, constants, nodes, outputs });
  const executor = openPlainExecutor(model, 'ort');
  const expected = await executor.run(feeds).finally(executor.close);
  for (const optimization of ['disabled', 'basic', 'extended', 'all'] as const) {
    const session = await openSession(encodeModel(model), { optimization });
    expect([optimization, await session.run(feeds).finally(session.close)]).toEqual([optimization, expected]);
  }
});
