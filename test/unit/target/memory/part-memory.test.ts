/** Memory plans of small parts, by hand. */
import { int, ints } from '../../../../src/onnx/ir/attribute.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { evaluate } from '../../../../src/runtime/session/evaluate.js';
import { compileModel } from '../../../../src/target/compile-model.js';
import { chooseTarget, getBuiltInProfile } from '../../../../src/target/profile/choose-target.js';
import type { MemoryReport } from '../../../../src/target/report/memory-report.js';
import { qdqGraph } from '../../../support/qdq-graph.js';
import { randomConstant, smallModel } from '../../../support/small-model.js';

async function planOf(model: Model, profile: 'generic-int8' | 'ryzen-ai' = 'generic-int8'): Promise<MemoryReport> {
  const target = chooseTarget(getBuiltInProfile(profile), profile === 'ryzen-ai' ? { device: 'phx-hpt', dtype: 'xint8' } : {});
  const { report } = await compileModel('net', model, target, { evaluate, undocumented: 'npu', accept: 'quantized' });
  const [memory] = report.parts.flatMap(part => part.memory ?? []);
  if (memory === undefined) throw new Error('no part has a memory plan');
  return memory;
}

/** x → Conv → Add with x → Conv, 1×16×8×8: 1,024 bytes each. */
function residual(size = 8): Model {
  const graph = qdqGraph();
  graph.input('x', [1, 16, size, size]);
  for (const name of ['a', 'b']) graph.constant(`${name}_w`, [16, 16, 3, 3], { scale: 2 ** -9 });
  const conv = { attributes: { kernel_shape: ints([3, 3]), pads: ints([1, 1, 1, 1]) } };
  graph.unit('Conv', ['x', 'a_w'], ['a'], conv);
  graph.unit('Add', ['x', 'a'], ['sum']);
  graph.unit('Conv', ['sum', 'b_w'], ['b'], conv);
  graph.output('b');
  return graph.build();
}

describe('the memory plan of a float model in bf16', () => {
  it('has two bytes for each element', async () => {
    const DIMS = [1, 16, 8, 8];
    const model = smallModel({
      inputs: { x: ['float32', DIMS] },
      constants: { w: randomConstant([16, 16, 3, 3], 5) },
      nodes: [{ op: 'Conv', in: ['x', 'w'], out: ['y'], attributes: { pads: ints([1, 1, 1, 1]) } }],
      outputs: ['y'],
    });
    const target = chooseTarget(getBuiltInProfile('ryzen-ai'), { dtype: 'bf16' });
    const { report } = await compileModel('net', model, target, { evaluate, undocumented: 'npu', accept: 'any' });
    const [plan] = report.parts.flatMap(part => part.memory ?? []);
    // 1,024 elements each; the weights are 2,304.
    expect(plan?.tensors.map(({ name, bytes }) => [name, bytes])).toEqual([
      ['x', 2048],
      ['y', 2048],
    ]);
    expect(plan?.onChip?.units).toEqual([{ fit: 'fits', bytes: 2048 + 2048 + 2 * 2304 }]);
  });
});

describe('the memory plan', () => {
  it('has the residual alive across the Conv, so that three tensors are live at the Add', async () => {
    const plan = await planOf(residual());
    expect(plan.tensors.map(({ name, bytes, first, last }) => ({ name, bytes, first, last }))).toEqual([
      { name: 'x', bytes: 1024, first: 0, last: 1 },
      { name: 'a', bytes: 1024, first: 0, last: 1 },
      { name: 'sum', bytes: 1024, first: 1, last: 2 },
      { name: 'b', bytes: 1024, first: 2, last: 2 },
    ]);
    expect(plan).toMatchObject({ peakBytes: 3072, boundBytes: 3072, gapBytes: 0, sumBytes: 4096 });
    expect(plan.units.indexOf(plan.peakUnit)).toBe(1);
  });

  it('gives a Reshape the memory of its input', async () => {
    const graph = qdqGraph();
    graph.input('x', [1, 16, 8, 8]);
    graph.constant('w', [16, 16, 1, 1]);
    graph.unit('Conv', ['x', 'w'], ['a'], { attributes: { kernel_shape: ints([1, 1]) } });
    graph.unit('Flatten', ['a'], ['flat'], { attributes: { axis: int(1) } });
    graph.constant('v', [1024, 16]);
    graph.unit('Gemm', ['flat', 'v'], ['y']);
    graph.output('y');
    const plan = await planOf(graph.build());
    expect(plan.tensors.map(({ name, first, last }) => ({ name, first, last }))).toEqual([
      { name: 'x', first: 0, last: 0 },
      { name: 'a', first: 0, last: 2 },
      { name: 'y', first: 2, last: 2 },
    ]);
  });

  it('states on-chip memory of the profile, and strips for what is larger', async () => {
    // 1×16×512×512 in and out: 8 MiB, four times what the device has.
    const plan = await planOf(residual(512), 'ryzen-ai');
    expect(plan.onChip?.bytes).toBe(2_621_440);
    const [conv, add] = plan.onChip?.units ?? [];
    // Four strips of 128 rows: 130 or 129 rows in, 128 out, 8,192 bytes each, and 2,304 bytes of weights.
    expect(conv).toMatchObject({ fit: 'rows', strips: { count: 4, rows: 128, weights: 'resident' } });
    expect(conv?.strips?.trafficBytes).toBe(2 * 4_194_304 + 6 * 8192 + constantBytes(conv?.bytes ?? 0, 2));
    expect(add).toMatchObject({ fit: 'rows', strips: { count: 5, rows: 103, trafficBytes: add?.bytes } });
  });

  it('is absent for a profile without the size of on-chip memory', async () => {
    expect((await planOf(residual())).onChip).toBeUndefined();
  });
});

/** Weights, scales and zero points of a unit with `tensors` activations of 4 MiB. */
function constantBytes(bytes: number, tensors: number): number {
  return bytes - tensors * 4_194_304;
}
