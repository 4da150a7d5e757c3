/** Tests of external data: reading, writing and rejected locations. */
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestModelContent } from '../../../../src/onnx/analysis/content-digest.js';
import { checkModel } from '../../../../src/onnx/check/check-model.js';
import { findValueByName } from '../../../../src/onnx/ir/edit.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { decodeMessage } from '../../../../src/onnx/proto/codec/decode-message.js';
import { encodeMessage } from '../../../../src/onnx/proto/codec/encode-message.js';
import { WHOLE_SCHEMA } from '../../../../src/onnx/proto/codec/schema.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { readModel, writeModel } from '../../../../src/onnx/serde/model-file.js';
import { extractSubgraph } from '../../../../src/onnx/surgery/extract.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import { openSession } from '../../../../src/runtime/session/session.js';
import { failureOf } from '../../../support/error-code.js';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tanren-external-'));
});
afterEach(() => rm(folder, { recursive: true }));

const makeModel = (): Model =>
  parseModelText(`g (float[2, 2] x) => (float[2, 2] y) <float[2, 2] w = {1, 2, 3, 4}, float[2, 2] v = {5, 6, 7, 8}, float[1] b = {9}> {
    h = MatMul(x, w)  k = Add(h, v)  y = Add(k, b) }`);

/** Writes a model of one initializer of four floats with these external_data entries. */
async function writeExternal(entries: Readonly<Record<string, string>>): Promise<string> {
  const externalData = Object.entries(entries).map(([key, value]) => ({ key, value }));
  const tensor = { name: 'w', dataType: 1, dims: BigInt64Array.of(4n), dataLocation: 1, externalData };
  const path = join(folder, 'in', 'model.onnx');
  await mkdir(join(folder, 'in'), { recursive: true });
  await writeFile(path, encodeMessage('ModelProto', { irVersion: 10n, graph: { name: 'g', initializer: [tensor] } }));
  return path;
}

describe('writing external data', () => {
  it('puts initializers from the threshold on into the file, page-aligned, and reads the same model back', async () => {
    const path = join(folder, 'sub', 'model.onnx');

    await writeModel(path, makeModel(), { externalData: { thresholdBytes: 16, file: 'weights.bin' } });

    expect((await stat(join(folder, 'sub', 'weights.bin'))).size).toBe(4096 + 16);
    const read = await readModel(path);
    expect(digestModelContent(read)).toBe(digestModelContent(makeModel()));
    expect(findValueByName(read.graph, 'v')?.constant).toEqual({
      dtype: 'float32',
      dims: [2, 2],
      bytes: new Uint8Array(Float32Array.of(5, 6, 7, 8).buffer),
    });
  });

  it('gives files that ONNX Runtime reads', async () => {
    const path = join(folder, 'model.onnx');
    await writeModel(path, makeModel(), { externalData: { thresholdBytes: 1, file: 'weights.bin' } });

    const session = await openSession(path, { optimization: 'basic' });
    const { y } = await session.run({ x: { dtype: 'float32', dims: [2, 2], data: Float32Array.of(1, 0, 0, 1) } });
    await session.close();

    expect(y?.data).toEqual(Float32Array.of(15, 17, 19, 21));
  });

  it('writes equal files for equal models', async () => {
    const options = { externalData: { thresholdBytes: 1, file: 'weights.bin' } };
    await writeModel(join(folder, 'a', 'model.onnx'), makeModel(), options);
    await writeModel(join(folder, 'b', 'model.onnx'), makeModel(), options);

    for (const file of ['model.onnx', 'weights.bin']) {
      expect(await readFile(join(folder, 'a', file))).toEqual(await readFile(join(folder, 'b', file)));
    }
  });

  it.each(['../weights.bin', '/weights.bin', 'sub/weights.bin', ''])('refuses the file name %j', async file => {
    const run = (): Promise<void> => writeModel(join(folder, 'model.onnx'), makeModel(), { externalData: { thresholdBytes: 1, file } });

    expect((await failureOf(run)).code).toBe('external-data-path');
  });
});

describe('reading external data', () => {
  it('uses offset and length, and reads the size of the shape if there is no length', async () => {
    const path = await writeExternal({ location: 'w.bin', offset: '4' });
    await writeFile(join(folder, 'in', 'w.bin'), new Uint8Array(Float32Array.of(0, 1, 2, 3, 4, 5).buffer));

    const constant = findValueByName((await readModel(path)).graph, 'w')?.constant;

    expect(constant).toEqual({ dtype: 'float32', dims: [4], bytes: new Uint8Array(Float32Array.of(1, 2, 3, 4).buffer) });
  });

  it.each([
    ['/etc/passwd', 'is absolute'],
    ['C:\\weights.bin', 'is absolute'],
    ['\\\\server\\weights.bin', 'is absolute'],
    ['../w.bin', 'leaves the folder'],
    ['sub/../../w.bin', 'leaves the folder'],
    ['sub\\..\\..\\w.bin', 'leaves the folder'],
    ['w.bin\0', 'contains a zero byte'],
    ['', 'is empty'],
    ['sub', 'is not a file'],
  ])('refuses the location %j', async (location, reason) => {
    const path = await writeExternal({ location });
    await mkdir(join(folder, 'in', 'sub'));
    await writeFile(join(folder, 'w.bin'), new Uint8Array(16));

    const { code, message } = await failureOf(() => readModel(path));

    expect(code).toBe('external-data-path');
    expect(message).toContain(reason);
  });

  it('takes a file of any name for the only one that the model refers to', async () => {
    const path = join(folder, 'model.onnx');
    await writeModel(path, makeModel(), { externalData: { thresholdBytes: 1, file: 'weights.bin' } });
    await rename(join(folder, 'weights.bin'), join(folder, 'input'));
    expect(digestModelContent(await readModel(path, { externalData: join(folder, 'input') }))).toBe(digestModelContent(makeModel()));
  });

  it('refuses one file for a model that refers to several', async () => {
    const tensor = (name: string, location: string) => ({
      name,
      dataType: 1,
      dims: BigInt64Array.of(4n),
      dataLocation: 1,
      externalData: [{ key: 'location', value: location }],
    });
    const path = join(folder, 'model.onnx');
    await writeFile(
      path,
      encodeMessage('ModelProto', { irVersion: 10n, graph: { name: 'g', initializer: [tensor('w', 'a.bin'), tensor('v', 'b.bin')] } }),
    );
    await writeFile(join(folder, 'a.bin'), new Uint8Array(16));
    const { code, message } = await failureOf(() => readModel(path, { externalData: join(folder, 'a.bin') }));
    expect([code, message]).toEqual([
      'external-data-missing',
      expect.stringContaining('"b.bin" is not the file that "a.bin" was read from'),
    ]);
  });

  it('refuses a symbolic link that leaves the folder, and follows one inside it', async () => {
    const path = await writeExternal({ location: 'link.bin' });
    await writeFile(join(folder, 'outside.bin'), new Uint8Array(16));
    await symlink(join(folder, 'outside.bin'), join(folder, 'in', 'link.bin'));

    const { code, message } = await failureOf(() => readModel(path));
    await rm(join(folder, 'in', 'link.bin'));
    await writeFile(join(folder, 'in', 'inside.bin'), new Uint8Array(16));
    await symlink('inside.bin', join(folder, 'in', 'link.bin'));

    expect(code).toBe('external-data-path');
    expect(message).toContain('is outside the folder of the model');
    expect((await readModel(path)).graph.values.size).toBe(1);
  });

  it.each([
    [{ location: 'missing.bin' }, 'external-data-missing', 'cannot be opened'],
    [{ location: 'w.bin', offset: '1' }, 'external-data-bounds', 'bytes 1 to 17 of "w.bin", which has 16'],
    [{ location: 'w.bin', offset: '-4' }, 'model-malformed', 'expected a number of bytes'],
    [{ location: 'w.bin', offset: '99999999999999999999' }, 'model-malformed', 'expected a number of bytes'],
    [{ location: 'w.bin', length: '15' }, 'model-malformed', 'needs 16 bytes, but its external data has 15'],
  ])('refuses %j', async (entries, code, reason) => {
    const path = await writeExternal(entries);
    await writeFile(join(folder, 'in', 'w.bin'), new Uint8Array(16));

    const failure = await failureOf(() => readModel(path));

    expect(failure.code).toBe(code);
    expect(failure.message).toContain(reason);
    expect(failure.message).toContain('model.onnx: ');
  });

  it('names the model that cannot be read', async () => {
    const { code, message } = await failureOf(() => readModel(join(folder, 'none.onnx')));

    expect(code).toBe('model-unreadable');
    expect(message).toContain('"none.onnx"');
  });
});

describe('constants in external data', () => {
  const options = { externalData: { thresholdBytes: 1, file: 'weights.bin' } };
  const weightsOf = (model: Model, name: string): Uint8Array | undefined => {
    const constant = findValueByName(model.graph, name)?.constant;
    return constant !== undefined && 'bytes' in constant ? constant.bytes : undefined;
  };

  it('are read when their bytes are used, not before', async () => {
    const path = join(folder, 'model.onnx');
    await writeModel(path, makeModel(), options);
    const model = await readModel(path);

    expect(checkModel(model)).toEqual([]);
    expect(weightsOf(model, 'b')).toEqual(new Uint8Array(Float32Array.of(9).buffer));
    await writeFile(join(folder, 'weights.bin'), new Uint8Array(4096 * 2 + 16));

    expect((await failureOf(() => weightsOf(model, 'w'))).code).toBe('external-data-changed');
  });

  it('stay correct if a model is written over the file that it was read from', async () => {
    const path = join(folder, 'model.onnx');
    await writeModel(path, makeModel(), options);
    const before = await readFile(join(folder, 'weights.bin'));

    await writeModel(path, await readModel(path), { ...options, flush: 'flush' });

    expect(await readFile(join(folder, 'weights.bin'))).toEqual(before);
    expect(digestModelContent(await readModel(path))).toBe(digestModelContent(makeModel()));
    expect((await readdir(folder)).sort()).toEqual(['model.onnx', 'weights.bin']);
  });

  it('leave no file after a failed write', async () => {
    const path = join(folder, 'model.onnx');
    await writeModel(path, makeModel(), options);
    const model = await readModel(path);
    await rm(join(folder, 'weights.bin'));

    const failure = await failureOf(() => writeModel(join(folder, 'new', 'model.onnx'), model, options));

    expect(failure.code).toBe('external-data-changed');
    expect(await readdir(join(folder, 'new'))).toEqual([]);
    await mkdir(join(folder, 'there'));
    expect((await failureOf(() => writeModel(join(folder, 'there'), makeModel()))).code).toBe('not-a-file');
  });

  it('beyond 4 GiB are read like in ONNX Runtime; one too large for an array is reported without stopping the others', async () => {
    const path = join(folder, 'model.onnx');
    const offset = 4.5 * 2 ** 30;
    const file = await open(join(folder, 'w.bin'), 'w');
    await file.write(new Uint8Array(Float32Array.of(1, 2, 3, 4).buffer), 0, 16, offset);
    await file.close();
    const tensor = (name: string, dataType: number, dims: readonly bigint[], entries: Readonly<Record<string, string>>) => ({
      name,
      dataType,
      dims: BigInt64Array.from(dims),
      dataLocation: 1,
      externalData: Object.entries({ location: 'w.bin', ...entries }).map(([key, value]) => ({ key, value })),
    });
    const { graph } = decodeMessage(
      WHOLE_SCHEMA,
      'ModelProto',
      encodeModel(parseModelText('g (float[4] x) => (float[4] y) { y = Add(x, w) }')),
    );
    const huge = tensor('huge', 2, [BigInt(offset)], {});
    const small = tensor('w', 1, [4n], { offset: String(offset), length: '16' });
    const write = async (initializer: readonly (typeof small)[]): Promise<void> =>
      writeFile(path, encodeMessage('ModelProto', { irVersion: 10n, opsetImport: [{ version: 17n }], graph: { ...graph, initializer } }));

    await write([huge, small]);
    const model = await readModel(path);
    expect(checkModel(model)).toEqual([]);
    expect((await failureOf(() => encodeModel(model))).code).toBe('model-too-large');
    if (Number(process.versions.node.split('.')[0]) < 22) {
      expect((await failureOf(() => weightsOf(model, 'huge'))).code).toBe('constant-too-large');
    }
    const part = extractSubgraph(model, { inputs: ['x'], outputs: ['y'] });
    await write([small]);
    const feeds = { x: { dtype: 'float32', dims: [4], data: Float32Array.of(10, 20, 30, 40) } } as const;
    for (const source of [encodeModel(part), path]) {
      const session = await openSession(source, { optimization: 'disabled' });
      const { y } = await session.run(feeds);
      await session.close();
      expect(y?.data).toEqual(Float32Array.of(11, 22, 33, 44));
    }
  });
});

describe('a model of more than 2 GiB', () => {
  it('is refused without external data before anything is written', async () => {
    const model = makeModel();
    // Pages of a fresh array that nothing touches take no memory; two initializers share it.
    const bytes = new Uint8Array(1.1e9);
    for (const name of ['w', 'v']) {
      const value = findValueByName(model.graph, name);
      if (value !== undefined) value.constant = { dtype: 'uint8', dims: [1.1e9], bytes };
    }
    const path = join(folder, 'model.onnx');

    const { code, message } = await failureOf(() => writeModel(path, model));

    expect(code).toBe('model-too-large');
    expect(message).toContain('2.2 GB');
    expect((await failureOf(() => readModel(path))).code).toBe('model-unreadable');
  });
});
