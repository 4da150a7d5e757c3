import { int, ints, string } from '../../../../src/onnx/ir/attribute.js';
import { addInitializer, addInput, addNode, findValueByName, makeModel } from '../../../../src/onnx/ir/edit.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
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
