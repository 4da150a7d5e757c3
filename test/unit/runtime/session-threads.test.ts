/** Parallel sessions in threads, and their errors. */
import { join } from 'node:path';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { openSessionThreads, type SessionThreads } from '../../../src/runtime/session/session-threads.js';
import { makeTensor } from '../../../src/tensor/tensor.js';
import { temporaryFolder } from '../../support/run-stage.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let model: string;
let threads: SessionThreads;
beforeAll(async () => {
  folder = await temporaryFolder('threads');
  model = join(folder.path, 'product.onnx');
  await writeModel(
    model,
    parseModelText('agraph (float[N, 512] x) => (float[N, 512] y) { t = Transpose(x)  s = MatMul(x, t)  y = MatMul(s, x) }'),
  );
  threads = await openSessionThreads(model, { optimization: 'all' }, 2);
});
afterAll(async () => {
  await threads.close();
  await folder.remove();
});

const rows = (count: number) => ({ x: makeTensor('float32', [count, 512], new Float32Array(count * 512).fill(0.5)) });

it('run without blocking the calling thread', async () => {
  const run = await threads.prepare([rows(512), rows(512)]);
  let turns = 0;
  const turn = (): void => {
    turns++;
    waiting = setImmediate(turn);
  };
  let waiting = setImmediate(turn);
  await run();
  await run();
  clearImmediate(waiting);
  // A run in this thread would block its event loop for the whole run.
  expect(turns).toBeGreaterThan(20);
});

it('keep their feeds, and use one thread per feed', async () => {
  const both = await threads.prepare([rows(2), rows(3)]);
  const one = await threads.prepare([rows(1)]);
  await both();
  await one();
  await both();
});

it('report why a run fails, and continue', async () => {
  const bad = await threads.prepare([{ x: makeTensor('float32', [1, 3], new Float32Array(3)) }]);
  await expect(bad()).rejects.toMatchObject({ code: 'model-run' });
  const good = await threads.prepare([rows(1)]);
  await good();
});

it('report that a model does not load, and end', async () => {
  await expect(openSessionThreads(join(folder.path, 'missing.onnx'), { optimization: 'all' }, 2)).rejects.toMatchObject({
    code: 'model-load',
  });
});

it('refuse requests after close', async () => {
  const own = await openSessionThreads(model, { optimization: 'all' }, 1);
  const run = await own.prepare([rows(1)]);
  await own.close();
  await own.close();
  await expect(run()).rejects.toMatchObject({ code: 'session-thread' });
});
