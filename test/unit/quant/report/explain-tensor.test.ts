/** Explanations of tensors: found by every name, with all known facts. */
import type { Model } from '../../../../src/onnx/ir/model.js';
import type { ModelSketches } from '../../../../src/quant/calibration/model-sketches.js';
import { listQdqTensors } from '../../../../src/quant/qdq/qdq-tensors.js';
import { type QuantizeOptions, quantizeModel } from '../../../../src/quant/quantize-model.js';
import { explainTensor, type TensorExplanation } from '../../../../src/quant/report/explain-tensor.js';
import type { QuantizationReport } from '../../../../src/quant/report/report-entries.js';
import { PRESETS } from '../../../../src/quant/scheme/scheme.js';
import { sketchHead, smallHead } from '../../../support/small-detector-head.js';

describe('tensors of a QDQ model', () => {
  let sketches: ModelSketches;
  beforeAll(async () => {
    sketches = await sketchHead(smallHead());
  });

  function quantize(options: Partial<QuantizeOptions> = {}): { model: Model; report: QuantizationReport } {
    const model = smallHead();
    const report = quantizeModel(model, sketches.model, sketches, { scheme: PRESETS.u8s8, exclude: [], domain: 'ai.onnx', ...options });
    return { model, report };
  }

  const explain = ({ model, report }: ReturnType<typeof quantize>, name: string): TensorExplanation =>
    explainTensor(model.graph, report, name);

  it('have the names of the float model, with producers and consumers', () => {
    const found = listQdqTensors(quantize().model.graph).map(({ name, role, dtype, producer, consumers, isInput, isOutput }) => [
      name,
      role,
      dtype,
      producer?.node,
      consumers.map(({ node }) => node).join(),
      isInput ? 'input' : isOutput ? 'output' : '',
    ]);
    expect(found).toEqual([
      ['image', 'activation', 'uint8', undefined, 'first', 'input'],
      ['first.bias', 'constant', 'int32', undefined, 'first', ''],
      ['first.weight', 'constant', 'int8', undefined, 'first', ''],
      ['active', 'activation', 'uint8', 'first', 'second', ''],
      ['second.bias', 'constant', 'int32', undefined, 'second', ''],
      ['second.weight', 'constant', 'int8', undefined, 'second', ''],
      ['logits', 'activation', 'uint8', 'second', '', 'output'],
    ]);
  });

  it.each([
    ['active', 'active'],
    ['active_QuantizeLinear_Output', 'active'],
    ['logits_QuantizeLinear_Input', 'logits'],
    ['first.weight_quantized', 'first.weight'],
  ])('%s is found as %s', (wanted, name) => {
    expect(explain(quantize(), wanted)).toMatchObject({ kind: 'quantized', tensor: { name }, report: { entry: { name } } });
  });

  it('scale and zero point in the model equal those in the report', () => {
    for (const preset of ['u8s8', 'xint8'] as const) {
      const { model, report } = quantize({ scheme: PRESETS[preset] });
      for (const { name, scale, zeroPoint } of report.activations) {
        expect(explainTensor(model.graph, report, name)).toMatchObject({ tensor: { scales: [scale], zeroPoints: [zeroPoint] } });
      }
    }
  });

  it('per-channel tensors have all scales and their axis', () => {
    const weight = { ...PRESETS.u8s8.weight, perChannel: true };
    const found = explain(quantize({ scheme: { ...PRESETS.u8s8, weight } }), 'first.weight');
    expect(found).toMatchObject({ tensor: { axis: 0, scales: { length: 4 } } });
  });

  it('a tensor with one pair per reader is listed once', () => {
    const placement = { ...PRESETS.u8s8.placement, pairs: 'dedicated' } as const;
    const names = listQdqTensors(quantize({ scheme: { ...PRESETS.u8s8, placement } }).model.graph).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toHaveLength(7);
  });

  it('a float value has a reason', () => {
    expect(explain(quantize(), 'features')).toMatchObject({ kind: 'float', reasons: ['Relu "relu" is fused with the operator before it'] });
    expect(explain(quantize({ scheme: PRESETS.xint8 }), 'features')).toMatchObject({
      kind: 'float',
      producer: { node: 'first' },
      consumers: [{ node: 'relu' }],
      reasons: ['Relu "relu" is fused with the operator before it'],
    });
    expect(explain(quantize({ exclude: ['second', { tensor: 'active' }] }), 'active')).toMatchObject({
      kind: 'float',
      reasons: ['Conv "second": excluded'],
    });
  });

  it('an unknown name returns all names for suggestions', () => {
    const found = explain(quantize(), 'logitz');
    expect(found.kind === 'unknown' && found.names.includes('logits')).toBe(true);
  });
});
