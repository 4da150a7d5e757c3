/** Files of dumped tensors, matched with the values of a model by their names. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readDumpFolder } from '../../../src/cli/commands/models/dump-files.js';
import type { QuantizedValue } from '../../../src/quant/simulate/dumps/quantized-values.js';
import { encodeNpy } from '../../../src/tensor/formats/npy.js';
import { makeTensor } from '../../../src/tensor/tensor.js';
import { failureOf } from '../../support/error-code.js';

const makeValue = (id: number, name: string, aliases: readonly string[] = []): QuantizedValue => ({
  id: id as QuantizedValue['id'],
  name,
  aliases,
  opType: 'Conv',
  dtype: 'uint8',
  dims: [1, 2],
  scale: 0.5,
  zeroPoint: 0,
});

const values = [makeValue(1, 'a/b_q', ['a/b', 'a/b_dq']), makeValue(2, 'c_q', ['c']), makeValue(3, 'a:b_q')];
const inputs = [{ name: 'image', dtype: 'float32', dims: [1, 2] }] as const;
const bytes = Uint8Array.of(4, 6);
const npy = encodeNpy(makeTensor('uint8', [1, 2], bytes));

describe('a folder of dumps', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'dumps-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const write = (name: string, content: Uint8Array): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  };
  const read = () => readDumpFolder(folder, { values, inputs, layout: 'nchw' });

  it.each([
    ['a folder for each "/"', 'a/b_q.npy', npy, 1],
    ['a float name of the same tensor', 'c.npy', npy, 2],
    ['a name with characters replaced', 'a_b.bin', bytes, 1],
    ['no header', 'c_q.raw', bytes, 2],
  ] as const)('may name files with %s', async (_, name, content, id) => {
    write(name, content);
    const { dumps, unknown } = await read();
    expect([...dumps].map(([value, { steps }]) => [value, [...steps]])).toEqual([[id, [4, 6]]]);
    expect(unknown).toEqual([]);
  });

  it('may be the working directory, and hold links', async () => {
    write('other/c.npy', npy);
    mkdirSync(join(folder, 'linked'));
    symlinkSync('../other/c.npy', join(folder, 'linked/c.npy'));
    symlinkSync('nowhere', join(folder, 'linked/a_b.npy'));
    const before = process.cwd();
    process.chdir(join(folder, 'linked'));
    try {
      expect([...(await readDumpFolder('.', { values, inputs, layout: 'nchw' })).dumps.keys()]).toEqual([2]);
    } finally {
      process.chdir(before);
    }
  });

  it.each([
    ['dump-file', 'c.npy', npy.subarray(0, 40)],
    ['dump-file', 'c.npy', Uint8Array.of(1, 2, 3)],
    ['dump-file', 'image.bin', bytes],
    ['sample-mismatch', 'image.npy', npy],
  ])('fails with %s and the name of the file %s', async (code, name, content) => {
    write(name, content);
    expect(await failureOf(read)).toMatchObject({ code, message: expect.stringContaining(join(folder, name)) });
  });

  it('has one file of each input', async () => {
    const input = new Uint8Array(Float32Array.of(0.5, 2).buffer);
    write('image.bin', input);
    write('image.raw', input);
    expect(await failureOf(read)).toMatchObject({ code: 'dump-name', message: expect.stringContaining('same input "image"') });
  });

  it('has the inputs of the model, and files that are nothing of it', async () => {
    write('c.npy', npy);
    write('image.bin', new Uint8Array(Float32Array.of(0.5, 2).buffer));
    write('notes.npy', npy);
    write('readme.txt', bytes);
    const { inputs: fed, unknown } = await read();
    expect(fed.image).toEqual(makeTensor('float32', [1, 2], Float32Array.of(0.5, 2)));
    expect(unknown).toEqual(['notes']);
  });

  it('is refused where names say nothing, or two things', async () => {
    expect((await failureOf(read)).code).toBe('dump-folder');
    write('c_g.npy', npy);
    expect(await failureOf(read)).toMatchObject({ code: 'dump-name', help: 'did you mean "c_q"?' });
    write('c.npy', npy);
    write('c_q.npy', npy);
    expect(await failureOf(read)).toMatchObject({
      code: 'dump-name',
      message: expect.stringContaining('another file has the same value "c_q"'),
    });
    rmSync(join(folder, 'c.npy'));
    write('a_b_q.npy', npy);
    expect(await failureOf(read)).toMatchObject({ code: 'dump-name', message: expect.stringContaining('several tensors') });
  });

  it('is refused where it does not exist, or a file is cut off', async () => {
    expect((await failureOf(() => readDumpFolder(join(folder, 'none'), { values, inputs, layout: 'nchw' }))).code).toBe('dump-folder');
    write('c.npy', npy.subarray(0, npy.length - 1));
    expect((await failureOf(read)).code).toBe('dump-file');
  });
});
