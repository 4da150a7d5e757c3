/** Reading of ONNX Runtime's profile, valid and damaged. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { parseProfile } from '../../../src/runtime/measure/profile.js';
import { RuntimeError } from '../../../src/runtime/session/runtime-error.js';
import { openSession } from '../../../src/runtime/session/session.js';
import { makeTensor } from '../../../src/tensor/tensor.js';
import { fixturePath } from '../../support/fixtures.js';
import { damageBytes, damages } from '../../support/mutate-bytes.js';
import { temporaryFolder } from '../../support/run-stage.js';

const event = (name: string, opType: string, dur: number, index = name) => ({
  cat: 'Node',
  name: `${name}_kernel_time`,
  dur,
  args: { op_name: opType, provider: 'CPUExecutionProvider', node_index: index },
});
const session = { cat: 'Session', name: 'model_run', dur: 999, args: {} };

it('excludes warm-up runs, and sums nodes by operator', () => {
  const run = (conv: number, relu: number) => [event('c1', 'Conv', conv), event('c2', 'Conv', 2 * conv), event('r', 'Relu', relu), session];
  const profile = parseProfile(JSON.stringify([...run(9000, 9000), ...run(1000, 500), ...run(3000, 700)]), { warmup: 1, runs: 2 });

  expect(profile.nodes).toEqual([
    { node: 'c2', opType: 'Conv', provider: 'CPUExecutionProvider', meanMs: 4 },
    { node: 'c1', opType: 'Conv', provider: 'CPUExecutionProvider', meanMs: 2 },
    { node: 'r', opType: 'Relu', provider: 'CPUExecutionProvider', meanMs: 0.6 },
  ]);
  expect(profile.operators).toEqual([
    { opType: 'Conv', nodes: 2, meanMs: 6, share: 6 / 6.6 },
    { opType: 'Relu', nodes: 1, meanMs: 0.6, share: 0.6 / 6.6 },
  ]);
});

it('keeps nodes with equal names separate', () => {
  const text = JSON.stringify([event('', 'Conv', 1000, '0'), event('', 'Relu', 2000, '1')]);
  expect(parseProfile(text, { warmup: 0, runs: 1 }).nodes.map(({ opType }) => opType)).toEqual(['Relu', 'Conv']);
});

it.each([
  ['{', 'not JSON'],
  ['{}', 'not a list'],
  ['[]', 'no node'],
  [JSON.stringify([{ ...event('c', 'Conv', 1), dur: 'long' }]), 'no duration'],
  [JSON.stringify([event('c', 'Conv', 1)]).replace('"dur":1', '"dur":1e999'), 'no duration'],
  [JSON.stringify([{ ...event('c', 'Conv', 1), args: {} }]), 'does not name an operator'],
  [JSON.stringify([event('c', 'Conv', 1)]), 'ran 1 times, expected 2'],
])('refuses %s', (text, message) => {
  expect(() => parseProfile(text, { warmup: 1, runs: 1 })).toThrow(message);
});

describe('a profile that ONNX Runtime 1.30 wrote', () => {
  const recorded = () => readFile(fixturePath('runtime/profile.json'));

  it('gives the means of its durations', async () => {
    // Three runs of Conv, a fused activation and a change of layout: 75, 19, 7; 6, 4, 3; 5, 4, 3 µs.
    expect(parseProfile(String(await recorded()), { warmup: 1, runs: 2 })).toEqual({
      runs: 2,
      nodes: [
        { node: 'b_nchwc', opType: 'Conv', provider: 'CPUExecutionProvider', meanMs: 0.013 },
        { node: '/QuickGeluFusion/', opType: 'QuickGelu', provider: 'CPUExecutionProvider', meanMs: 0.0035 },
        { node: 'ReorderOutput', opType: 'ReorderOutput', provider: 'CPUExecutionProvider', meanMs: 0.0035 },
      ],
      operators: [
        { opType: 'Conv', nodes: 1, meanMs: 0.013, share: expect.closeTo(0.65, 12) },
        { opType: 'QuickGelu', nodes: 1, meanMs: 0.0035, share: expect.closeTo(0.175, 12) },
        { opType: 'ReorderOutput', nodes: 1, meanMs: 0.0035, share: expect.closeTo(0.175, 12) },
      ],
    });
  });

  it('is read or refused if damaged, and never gives an invalid duration', async () => {
    const bytes = await recorded();
    fc.assert(
      fc.property(damages, damage => {
        try {
          const { nodes } = parseProfile(Buffer.from(damageBytes(bytes, damage)).toString(), { warmup: 1, runs: 2 });
          for (const { meanMs } of nodes) expect(Number.isFinite(meanMs) && meanMs >= 0).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(RuntimeError);
          expect(error).toMatchObject({ code: 'bad-profile' });
        }
      }),
      { numRuns: 200 },
    );
  });
});

it('reads the output of the library', async () => {
  const folder = await temporaryFolder('profile');
  const model = parseModelText('agraph (float[2] x) => (float[2] y) { a = Sigmoid(x)  b = Neg(a)  y = Mul(a, b) }');
  const profiled = await openSession(encodeModel(model), { optimization: 'disabled', profilePrefix: join(folder.path, 'p') });
  for (let run = 0; run < 3; run++) await profiled.run({ x: makeTensor('float32', [2], new Float32Array([1, 2])) });
  await profiled.close();
  const [file = ''] = await readdir(folder.path);
  const profile = parseProfile(await readFile(join(folder.path, file), 'utf8'), { warmup: 1, runs: 2 });
  await folder.remove();

  expect(profile.operators.map(({ opType, nodes }) => [opType, nodes]).sort()).toEqual([
    ['Mul', 1],
    ['Neg', 1],
    ['Sigmoid', 1],
  ]);
  expect(profile.operators.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 9);
});
