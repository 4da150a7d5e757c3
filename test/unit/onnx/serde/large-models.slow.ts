/** Tests of models with more than 2 GiB of weights: copying between files beyond that offset with little memory. */
import { mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeMessage } from '../../../../src/onnx/proto/codec/decode-message.js';
import { encodeMessage } from '../../../../src/onnx/proto/codec/encode-message.js';
import { WHOLE_SCHEMA } from '../../../../src/onnx/proto/codec/schema.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { readModel, writeModel } from '../../../../src/onnx/serde/model-file.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import { openSession } from '../../../../src/runtime/session/session.js';

const LARGE = 1_100_000_000;

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tanren-large-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** A model of two constants of 1.1 GB, which are zeros that take no room, and a small one behind them that y = x + w reads. */
async function writeLarge(path: string): Promise<void> {
  const file = await open(join(folder, 'in.data'), 'w');
  await file.write(new Uint8Array(Float32Array.of(1, 2, 3, 4).buffer), 0, 16, 2 * LARGE);
  await file.close();
  const tensor = (name: string, dataType: number, count: number, offset: number) => ({
    name,
    dataType,
    dims: BigInt64Array.of(BigInt(count)),
    dataLocation: 1,
    externalData: [
      { key: 'location', value: 'in.data' },
      { key: 'offset', value: String(offset) },
    ],
  });
  const text = 'g (float[4] x) => (float[4] y, uint8[1] p, uint8[1] q) { y = Add(x, w)  p = ReduceMax(a)  q = ReduceMax(b) }';
  const { graph } = decodeMessage(WHOLE_SCHEMA, 'ModelProto', encodeModel(parseModelText(text)));
  const initializer = [tensor('a', 2, LARGE, 0), tensor('b', 2, LARGE, LARGE), tensor('w', 1, 4, 2 * LARGE)];
  await writeFile(path, encodeMessage('ModelProto', { irVersion: 8n, opsetImport: [{ version: 17n }], graph: { ...graph, initializer } }));
}

describe('a model of 2.2 GB', () => {
  it('is copied past 2 GiB in little memory, and ONNX Runtime reads the data there', async () => {
    await writeLarge(join(folder, 'in.onnx'));
    const before = process.memoryUsage().rss;

    const model = await readModel(join(folder, 'in.onnx'));
    await writeModel(join(folder, 'out.onnx'), model, { externalData: { thresholdBytes: 1, file: 'out.onnx.data' } });

    expect(process.memoryUsage().rss - before).toBeLessThan(300e6);
    expect((await stat(join(folder, 'out.onnx.data'))).size).toBeGreaterThan(2 ** 31);
    const session = await openSession(join(folder, 'out.onnx'), { optimization: 'disabled' });
    const { y } = await session.run({ x: { dtype: 'float32', dims: [4], data: Float32Array.of(10, 20, 30, 40) } }, ['y']);
    await session.close();
    expect(y?.data).toEqual(Float32Array.of(11, 22, 33, 44));
  });
});
