/** Tests that decoding and encoding keep a model. */
import { int, ints, string } from '../../../../src/onnx/ir/attribute.js';
import { addInitializer, addInput, addNode, findValueByName, makeModel } from '../../../../src/onnx/ir/edit.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { decodeMessage } from '../../../../src/onnx/proto/codec/decode-message.js';
import { encodeMessage } from '../../../../src/onnx/proto/codec/encode-message.js';
import { WHOLE_SCHEMA } from '../../../../src/onnx/proto/codec/schema.js';
import { decodeModel } from '../../../../src/onnx/serde/decode-model.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';

function makeConvModel(): Model {
  const model = makeModel({ opset: 17, graphName: 'g' });
  const { graph } = model;
  const x = addInput(model, graph, 'x', { kind: 'tensor', dtype: 'float32', dims: ['n', 1, undefined, 4] });
  const weight = addInitializer(model, graph, 'w', { dtype: 'float32', dims: [1, 1, 1, 1], bytes: new Uint8Array(4) });
  const conv = addNode(model, graph, {
    opType: 'Conv',
    name: 'conv',
    inputs: [x.id, weight.id, undefined],
    attributes: { group: int(1), pads: ints([0, 0, 0, -1]), auto_pad: string('NOTSET') },
    outputs: ['y'],
  });
  graph.outputs = conv.outputs.filter(id => id !== undefined);
  return model;
}

describe('encoding and decoding a model', () => {
  it('gives the same model back', () => {
    const decoded = decodeModel(encodeModel(makeConvModel()));

    const conv = [...decoded.graph.nodes.values()][0];
    expect(conv).toMatchObject({ name: 'conv', opType: 'Conv', domain: '' });
    expect(conv?.attributes.get('pads')).toEqual(ints([0, 0, 0, -1]));
    expect(conv?.inputs).toEqual([findValueByName(decoded.graph, 'x')?.id, findValueByName(decoded.graph, 'w')?.id, undefined]);
    expect(findValueByName(decoded.graph, 'x')?.type).toEqual({ kind: 'tensor', dtype: 'float32', dims: ['n', 1, undefined, 4] });
  });

  it('writes equal bytes for equal models', () => {
    const bytes = encodeModel(makeConvModel());

    expect(encodeModel(makeConvModel())).toEqual(bytes);
    expect(encodeModel(decodeModel(bytes))).toEqual(bytes);
  });

  it('shares the memory of the file with its constants', () => {
    const bytes = encodeModel(makeConvModel());

    const constant = findValueByName(decodeModel(bytes).graph, 'w')?.constant;

    expect(constant).toMatchObject({ dtype: 'float32', dims: [1, 1, 1, 1] });
    expect(constant !== undefined && 'bytes' in constant ? constant.bytes.buffer : undefined).toBe(bytes.buffer);
  });
});

describe('metadata of models', () => {
  const unknown = [Uint8Array.of(0xfa, 0x3f, 1, 9)];
  const dim = (dimValue: bigint, denotation: string) => ({ dimValue, denotation, unknown });
  const bytes = encodeMessage('ModelProto', {
    irVersion: 10n,
    opsetImport: [{ version: 17n }],
    graph: {
      name: 'g',
      node: [
        {
          input: ['x'],
          output: ['y'],
          opType: 'Relu',
          attribute: [
            { name: 'a', type: 1, f: 1, docString: 'why', unknown: [Uint8Array.of(0xfa, 0x3f, 1, 7)] },
            { name: 't', type: 4, t: { dims: BigInt64Array.of(1n), dataType: 3, rawData: Uint8Array.of(1), docString: 'a tensor' } },
          ],
        },
      ],
      input: [
        {
          name: 'x',
          type: {
            tensorType: { elemType: 1, shape: { dim: [dim(1n, 'DATA_BATCH'), {}], unknown }, unknown },
            denotation: 'IMAGE',
            unknown,
          },
        },
      ],
      output: [{ name: 'y' }],
      valueInfo: [{ name: 'nowhere', type: { tensorType: { elemType: 1 } } }],
    },
    trainingInfo: [{ initialization: { name: 'start' } }],
    functions: [{ name: 'f', domain: 'd', input: ['a'], output: ['b'] }],
  });

  it('is written back: denotations and unknown fields of types, doc strings and unknown fields of attributes, types of values that nothing has, training, functions', () => {
    const encoded = encodeModel(decodeModel(bytes));

    expect(withoutPlaces(decodeMessage(WHOLE_SCHEMA, 'ModelProto', encoded))).toEqual(
      withoutPlaces(decodeMessage(WHOLE_SCHEMA, 'ModelProto', bytes)),
    );
  });

  it('has texts that are UTF-8, byte order marks included; others are refused', () => {
    const withText = (text: readonly number[]): Uint8Array =>
      encodeMessage('ModelProto', {
        graph: { name: 'g', initializer: [{ name: 's', dataType: 8, dims: BigInt64Array.of(1n), stringData: [Uint8Array.from(text)] }] },
      });

    expect(findValueByName(decodeModel(withText([0xef, 0xbb, 0xbf, 0x61])).graph, 's')?.constant).toMatchObject({ data: ['\ufeffa'] });
    expect(() => decodeModel(withText([0xff]))).toThrow('a string that is not UTF-8');
  });
});

/** Messages without where they lay in the file. */
function withoutPlaces(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPlaces);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => (key.startsWith('content') ? [] : [[key, withoutPlaces(member)]])),
  );
}
