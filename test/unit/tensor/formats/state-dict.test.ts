/** Tests of checkpoint files. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestBytes } from '../../../../src/base/digest.js';
import { decodeStateDict, readStateDict, selectStateDict } from '../../../../src/tensor/formats/state-dict.js';
import { encodeZip } from '../../../../src/tensor/formats/zip-archive.js';
import { failureOf } from '../../../support/error-code.js';
import { fixturePath } from '../../../support/fixtures.js';

interface Recorded {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly sha256_le_contiguous: string;
}

interface ExpectedFile {
  readonly expect: 'tensors' | 'tensors-or-refuse' | 'refuse';
  readonly group: 'mixed' | 'module_state';
  readonly prefix: string;
  readonly reason: string;
  readonly names: readonly string[];
}

const expected = JSON.parse(readFileSync(fixturePath('torch', 'expected.json'), 'utf8')) as {
  readonly files: Readonly<Record<string, ExpectedFile>>;
  readonly mixed: Readonly<Record<string, Recorded>>;
  readonly module_state: Readonly<Record<string, Recorded>>;
};
const files = Object.entries(expected.files);

describe('checkpoints recorded from torch', () => {
  it.each(files.filter(([, file]) => file.expect === 'tensors'))('%s gives every tensor with its recorded digest', async (name, {
    group,
    prefix,
  }) => {
    const tensors = await readStateDict(fixturePath('torch', name));
    const found = Object.keys(expected[group]).map(key => {
      const tensor = tensors.get(prefix + key);
      return [key, tensor?.dtype, tensor?.dims, tensor === undefined ? undefined : digestBytes(tensor.bytes)];
    });
    expect(found).toEqual(
      Object.entries(expected[group]).map(([key, { dtype, shape, sha256_le_contiguous }]) => [key, dtype, shape, sha256_le_contiguous]),
    );
  });

  it.each(files.filter(([, file]) => file.expect !== 'tensors'))('%s is refused by its class and by name', async (name, {
    reason,
    names,
  }) => {
    const failure = await failureOf(() => readStateDict(fixturePath('torch', name)));
    expect(failure.code).toBe(reason);
    for (const part of Array.isArray(names) ? names : []) expect(failure.message).toContain(part);
    expect(existsSync('tanren-was-here')).toBe(false);
  });

  it('a storage that claims too much is refused with both sizes', async () => {
    const { message } = await failureOf(() => readStateDict(fixturePath('torch', 'hostile_storage_count_zip.pth')));
    expect(message).toContain('4000000 bytes');
    expect(message).toContain('432 bytes');
  });

  it.each([
    'mixed_zip.pth',
    'mixed_legacy.pth',
    'mixed.safetensors',
    'whole_module_zip.pth',
  ])('%s cut anywhere gives a typed error', async name => {
    const bytes = await readFile(fixturePath('torch', name));
    for (let length = 0; length < bytes.length; length += 97) {
      const { code } = await failureOf(() => decodeStateDict(bytes.subarray(0, length)));
      expect(['truncated', 'safetensors-malformed', 'zip-malformed']).toContain(code);
    }
  });

  it.each([
    'mixed_zip.pth',
    'mixed_legacy.pth',
    'mixed.safetensors',
  ])('%s with any byte changed is read or refused by a typed error', async name => {
    const bytes = await readFile(fixturePath('torch', name));
    let refused = 0;
    for (let at = 0; at < bytes.length; at += 7) {
      const damaged = Uint8Array.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 0xff;
      try {
        decodeStateDict(damaged);
      } catch (error) {
        expect(error).toMatchObject({ name: 'TensorError' });
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(10);
  });
});

describe('files that are no checkpoint', () => {
  it.each([
    [
      'big-endian bytes',
      [
        ['a/data.pkl', '}.'],
        ['a/byteorder', 'big'],
      ],
      'byte-order',
    ],
    ['no pickle', [['a/version', '3']], 'checkpoint-malformed'],
    [
      'records in two folders',
      [
        ['a/data.pkl', '}.'],
        ['b/version', '3'],
      ],
      'entry-name',
    ],
  ])('a torch archive with %s is refused', async (_, records, code) => {
    const bytes = encodeZip(records.map(([name = '', text = '']) => [name, new TextEncoder().encode(text)] as const));
    expect(await failureOf(() => decodeStateDict(bytes))).toMatchObject({ code });
  });

  it('a missing file, a folder and an unknown format give different errors', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tanren-'));
    await writeFile(join(folder, 'text.pth'), 'this is no checkpoint');
    expect(await failureOf(() => readStateDict(join(folder, 'absent.pth')))).toMatchObject({ code: 'file-missing' });
    expect(await failureOf(() => readStateDict(folder))).toMatchObject({ code: 'file-unreadable' });
    expect(await failureOf(() => readStateDict(join(folder, 'text.pth')))).toMatchObject({ code: 'unknown-format' });
  });
});

describe('selectStateDict', () => {
  it('removes the wrapper around expected tensors', async () => {
    const tensors = await readStateDict(fixturePath('torch', 'with_optimizer_zip.pth'));
    const selected = selectStateDict(tensors, '0.weight');
    expect(selected.prefix).toBe('model.');
    expect([...selected.tensors.keys()]).toEqual(Object.keys(expected.module_state));
  });

  it('returns everything if nothing matches', async () => {
    const tensors = await readStateDict(fixturePath('torch', 'module_state_zip.pth'));
    expect(selectStateDict(tensors, 'absent').tensors).toBe(tensors);
  });
});
