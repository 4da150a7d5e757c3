/** Models that compute in BF16 and BFP16, held to the plain definitions of the formats. */
import * as fc from 'fast-check';
import { float, int, ints } from '../../../../src/onnx/ir/attribute.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { PRESETS } from '../../../../src/quant/scheme/scheme.js';
import { FLOAT_FORMATS, type FloatFormat, roundToFormat } from '../../../../src/quant/simulate/floats/float-format.js';
import { roundModel, withoutRounding } from '../../../../src/quant/simulate/floats/rounded-model.js';
import { openSession } from '../../../../src/runtime/session/session.js';
import { decodeRawTensor } from '../../../../src/tensor/raw-tensor.js';
import { makeTensor, type RawTensor, type Tensor } from '../../../../src/tensor/tensor.js';
import { failureOf } from '../../../support/error-code.js';
import { runModel } from '../../../support/look-at-model.js';
import { quantizeOn } from '../../../support/quantize-small.js';
import { randomConstant, randomFloats, type SmallNode, smallModel } from '../../../support/small-model.js';

async function run(model: Model, x: Tensor): Promise<Float32Array> {
  const session = await openSession(encodeModel(model), { optimization: 'all' });
  const { y } = await session.run({ x }).finally(session.close);
  return (y as Tensor<'float32'>).data;
}

const one = (node: Omit<SmallNode, 'in' | 'out'>, dims: readonly number[]): Model =>
  smallModel({ inputs: { x: ['float32', dims] }, nodes: [{ ...node, in: ['x'], out: ['y'] }], outputs: ['y'] });

/** Bit patterns of all kinds: halves of BF16, subnormal numbers, infinities, the largest numbers. */
const oddNumbers = Float32Array.from(
  [
    ...[
      0x3f808000, 0x3f818000, 0x3f807fff, 0x3f808001, 0xbf808000, 0xbf818000, 0x7f7fffff, 0x7f7f8000, 0x7f800000, 0xff800000, 1, 0x8000,
      0x18000, 0x80000001,
    ],
  ].map(bits => new Float32Array(Uint32Array.of(bits).buffer)[0] ?? 0),
);

describe('a model in bf16', () => {
  it("rounds as ONNX Runtime's Cast to BFLOAT16, on numbers of all kinds", async () => {
    const dims = [1, oddNumbers.length];
    const data = await run(roundModel(one({ op: 'Identity' }, dims), 'bf16'), makeTensor('float32', dims, oddNumbers));
    expect(new Uint32Array(data.buffer, data.byteOffset, data.length)).toEqual(
      new Uint32Array(roundToFormat(oddNumbers, dims, 'bf16').buffer),
    );
  });
});

describe('a model in bfp16', () => {
  it.each([3, 8, 13, 16])('rounds blocks of %i channels as the plain definition', async channels => {
    const dims = [2, channels, 3, 5];
    // Magnitudes that the operators isolate without overflow or underflow, and zero.
    const number = fc
      .tuple(fc.integer({ min: -(2 ** 24), max: 2 ** 24 }), fc.integer({ min: -40, max: 20 }))
      .map(([mantissa, exponent]) => mantissa * 2 ** exponent + 0);
    const count = 2 * channels * 15;
    await fc.assert(
      fc.asyncProperty(fc.array(number, { minLength: count, maxLength: count }), async values => {
        const x = Float32Array.from(values);
        const data = await run(roundModel(one({ op: 'Identity' }, dims), 'bfp16'), makeTensor('float32', dims, x));
        expect(data.map(value => value + 0)).toEqual(roundToFormat(x, dims, 'bfp16').map(value => value + 0));
      }),
      { numRuns: 5, endOnFailure: true },
    );
  });

  it('leaves infinity and NaN', async () => {
    const x = Float32Array.of(Number.NaN, 1, Number.NEGATIVE_INFINITY, 0.01, 3, 1, 1, 1);
    const data = await run(roundModel(one({ op: 'Identity' }, [1, 8]), 'bfp16'), makeTensor('float32', [1, 8], x));
    expect(data).toEqual(roundToFormat(x, [1, 8], 'bfp16'));
  });
});

const dims = [1, 4, 6, 6];
const weight = randomConstant([8, 4, 3, 3], 5);
const bias = randomConstant([8], 6);
const pads = { pads: ints([1, 1, 1, 1]) };
const network = smallModel({
  inputs: { x: ['float32', dims] },
  constants: { w: weight, b: bias },
  nodes: [
    { op: 'Conv', in: ['x', 'w', 'b'], out: ['c'], attributes: pads },
    { op: 'LeakyRelu', in: ['c'], out: ['l'], attributes: { alpha: float(0.1) } },
    { op: 'Concat', in: ['l', 'l'], out: ['k'], attributes: { axis: int(1) } },
    { op: 'Sigmoid', in: ['k'], out: ['y'] },
  ],
  outputs: ['y'],
});

/** The network operator by operator: each in float32, and rounded by the plain definition. */
async function stepwise(format: FloatFormat, x: Tensor<'float32'>): Promise<Tensor<'float32'>> {
  const rounded = (tensor: Tensor | undefined): Tensor<'float32'> => {
    const { data, dims: own } = tensor as Tensor<'float32'>;
    return makeTensor('float32', own, roundToFormat(data, own, format));
  };
  const constantOf = (constant: typeof weight): Tensor<'float32'> => decodeRawTensor(constant as RawTensor) as Tensor<'float32'>;
  const w = rounded(constantOf(weight));
  const b = format === 'bf16' ? rounded(constantOf(bias)) : constantOf(bias);
  const step = async (node: SmallNode, feeds: Readonly<Record<string, Tensor>>): Promise<Tensor<'float32'>> => {
    const inputs = Object.fromEntries(Object.entries(feeds).map(([name, tensor]) => [name, ['float32', tensor.dims] as const]));
    const { o } = await runModel(smallModel({ inputs, nodes: [{ ...node, out: ['o'] }], outputs: ['o'] }), feeds);
    return rounded(o);
  };
  const c = await step({ op: 'Conv', in: ['x', 'w', 'b'], out: [], attributes: pads }, { x: rounded(x), w, b });
  const l = await step({ op: 'LeakyRelu', in: ['c'], out: [], attributes: { alpha: float(0.1) } }, { c });
  const k = await step({ op: 'Concat', in: ['l', 'l'], out: [], attributes: { axis: int(1) } }, { l });
  return step({ op: 'Sigmoid', in: ['k'], out: [] }, { k });
}

describe.each(FLOAT_FORMATS)('a network in %s', format => {
  it('rounds its input, its weights, and the result of each operator', async () => {
    const x = randomFloats(dims, 3);
    expect(await run(roundModel(network, format), x)).toEqual((await stepwise(format, x)).data);
  });

  it('without its rounding is the network with rounded weights, and rounds again to the same', async () => {
    const rounded = roundModel(network, format);
    const plain = withoutRounding(rounded);
    expect([...plain.graph.nodes.values()].map(({ opType }) => opType)).toEqual(['Conv', 'LeakyRelu', 'Concat', 'Sigmoid']);
    const x = randomFloats(dims, 4);
    expect(await run(roundModel(plain, format), x)).toEqual(await run(rounded, x));
    expect(await run(plain, x)).not.toEqual(await run(network, x));
  });

  it('refuses a quantized model', async () => {
    const quantized = await quantizeOn(network, { x: randomFloats(dims, 1) }, PRESETS.xint8);
    expect((await failureOf(() => roundModel(quantized, format))).code).toBe('simulate-quantized');
  });
});
