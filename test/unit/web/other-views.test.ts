/** What leads from the view "Model" to the others: the value of a node in "Quantization", and the stage that compared its values. */
import type { ModelView, NodeView } from '../../../src/onnx/describe/model-view.js';
import type { StageRow } from '../../../src/report/views/pipeline-data.js';
import { quantizedValueOf } from '../../../src/web/page/model/quantized-value.js';
import { listVerifiers } from '../../../src/web/page/quantization/use-propagated.js';

describe('the quantized value of a node', () => {
  const node = (op: string, inputs: readonly string[], outputs: readonly string[]): NodeView =>
    ({ id: op, op, inputs, outputs, attributes: {}, macs: 0, parameters: 0 }) as unknown as NodeView;
  const quantize = node('QuantizeLinear', ['x', 'scale', 'zero'], ['x_q']);
  const dequantize = node('DequantizeLinear', ['x_q', 'scale', 'zero'], ['x_dq']);
  const weight = node('DequantizeLinear', ['w_q', 'w_scale'], ['w_dq']);
  const conv = node('Conv', ['x_dq', 'w_dq'], ['y']);
  const model = { nodes: [quantize, dequantize, weight, conv] } as unknown as ModelView;

  it.each([
    [quantize, 'x'],
    [dequantize, 'x'],
    [weight, undefined],
    [conv, 'y'],
  ])('of $op is its float value', (one, value) => expect(quantizedValueOf(one, model)).toBe(value));
});

describe('the stages that compared the values of a model', () => {
  const stage = (id: string, more: Partial<StageRow> = {}): StageRow =>
    ({
      id,
      plugin: 'verify',
      built: true,
      outputs: [{ port: 'report', digest: 'd' }],
      inputs: [{ name: 'candidate.backbone', stage: 'quantize', port: 'model' }],
      ...more,
    }) as unknown as StageRow;

  it('are all built ones that judge it, in the order of the pipeline, with its name among the parts', () => {
    const stages = [
      stage('reads-as-reference', { inputs: [{ name: 'reference.backbone', stage: 'quantize', port: 'model' }] }),
      stage('first'),
      stage('not-built', { built: false }),
      stage('other-plugin', { plugin: 'evaluate' }),
      stage('not-saved', { outputs: [{ port: 'report', absent: true }] as unknown as StageRow['outputs'] }),
      stage('alone', { inputs: [{ name: 'candidate', stage: 'quantize', port: 'model' }] }),
    ];
    const found = listVerifiers(stages, { stage: 'quantize', port: 'model' });
    expect(found.map(({ verify, entry }) => [verify.id, entry])).toEqual([
      ['first', 'backbone'],
      ['alone', 'model'],
    ]);
    expect(listVerifiers(stages, { stage: 'rewrite', port: 'model' })).toEqual([]);
  });
});
