/** Tests of the .npy format against files written by NumPy. */
import { readFile } from 'node:fs/promises';
import { decodeNpy, encodeNpy } from '../../../../src/tensor/formats/npy.js';
import { decodeNpz, encodeNpz } from '../../../../src/tensor/formats/npz.js';
import { openZip, readZipEntry } from '../../../../src/tensor/formats/zip-archive.js';
import { makeTensor, type Tensor } from '../../../../src/tensor/tensor.js';
import { failureOf } from '../../../support/error-code.js';
import { fixturePath } from '../../../support/fixtures.js';

const counting = Array.from({ length: 24 }, (_, index) => index);

async function readFixture(name: string): Promise<Uint8Array> {
  return readFile(fixturePath('npy', name));
}

function numbersOf(tensor: Tensor): number[] {
  return tensor.dtype === 'string' ? [] : Array.from(tensor.data as ArrayLike<number | bigint>, Number);
}

function withHeader(header: string, body = new Uint8Array(0)): Uint8Array {
  const bytes = new Uint8Array(10 + header.length + body.length);
  bytes.set(Buffer.from(`\x93NUMPY\x01\x00`, 'latin1'));
  new DataView(bytes.buffer).setUint16(8, header.length, true);
  bytes.set(Buffer.from(header, 'latin1'), 10);
  bytes.set(body, 10 + header.length);
  return bytes;
}

describe('npz archives written by NumPy', () => {
  it.each(['stored.npz', 'deflated.npz'])('%s gives every array with its dtype, shape and values', async name => {
    const archive = decodeNpz(await readFixture(name));
    for (const dtype of ['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64', 'float32', 'float64'] as const) {
      expect(archive.get(dtype)).toMatchObject({ dtype, dims: [4, 6] });
      expect(numbersOf(archive.get(dtype))).toEqual(counting);
    }
    expect(archive.get('bool').dtype).toBe('bool');
    expect(numbersOf(archive.get('bool'))).toEqual(counting.map(value => (value === 0 ? 0 : 1)));
    expect(numbersOf(archive.get('float16')).slice(0, 3)).toEqual([0, 0x3c00, 0x4000]);
    expect(numbersOf(archive.get('complex64')).slice(0, 4)).toEqual([0, 0.5, 1, 1.5]);
    expect(numbersOf(archive.get('complex128')).slice(0, 4)).toEqual([0, 0.5, 1, 1.5]);
  });

  it('byte order and Fortran order are undone', async () => {
    const archive = decodeNpz(await readFixture('stored.npz'));
    expect(numbersOf(archive.get('big_endian'))).toEqual(counting);
    expect(numbersOf(archive.get('big_endian_complex')).slice(0, 4)).toEqual([0, 0.5, 1, 0.5]);
    expect(archive.get('fortran').dims).toEqual([2, 3, 4]);
    expect(numbersOf(archive.get('fortran'))).toEqual(counting);
  });

  it('scalars, empty arrays and text are read', async () => {
    const archive = decodeNpz(await readFixture('stored.npz'));
    expect(archive.get('scalar')).toMatchObject({ dims: [], data: Float32Array.of(3.25) });
    expect(archive.get('empty').dims).toEqual([0, 5]);
    expect(archive.get('text')).toMatchObject({ dtype: 'string', dims: [3], data: ['a', 'größer', '\u{1F600}'] });
    expect(archive.get('byte_text')).toMatchObject({ data: ['ab', 'c'] });
  });

  it('sizes and offsets in their zip64 forms are read', async () => {
    const archive = decodeNpz(await readFixture('zip64.npz'));
    expect(archive.names).toEqual(['a', 'b']);
    expect(numbersOf(archive.get('a'))).toEqual([0, 1, 2, 3, 4, 5]);
    expect(numbersOf(archive.get('b'))).toEqual([0, 1, 2]);
  });

  it('a missing array, or one of another dtype, is refused by name', async () => {
    const archive = decodeNpz(await readFixture('stored.npz'));
    expect(await failureOf(() => archive.get('absent'))).toMatchObject({
      code: 'array-missing',
      message: expect.stringContaining('absent'),
    });
    expect(await failureOf(() => archive.getFloat32('int8'))).toMatchObject({ code: 'array-dtype' });
  });
});

describe('npy arrays as we write them', () => {
  it('names arrays as the values of a model are named, also with a slash first', () => {
    const tensor = makeTensor('float32', [2], Float32Array.of(1, 2));
    const names = ['/m/head/Conv_output_0', 'a/../b', 'C:\\x'];
    const archive = decodeNpz(encodeNpz(new Map(names.map(name => [name, tensor]))));
    expect(archive.names).toEqual(names);
    expect(archive.get('/m/head/Conv_output_0')).toEqual(tensor);
  });

  it("equal NumPy's output byte for byte", async () => {
    const zip = openZip(await readFixture('stored.npz'));
    for (const [name, entry] of zip.entries) {
      if (/big_endian|fortran|byte_text/.test(name)) continue;
      const written = readZipEntry(zip, entry, { crc: 'check' });
      expect([name, Buffer.from(encodeNpy(decodeNpy(written))).toString('latin1')]).toEqual([
        name,
        Buffer.from(written).toString('latin1'),
      ]);
    }
  });

  it('a dtype that NumPy lacks is refused', async () => {
    expect(await failureOf(() => encodeNpy(makeTensor('bfloat16', [1], Uint16Array.of(0))))).toMatchObject({ code: 'npy-unsupported' });
  });

  it('an archive survives writing and reading, and equal arrays give equal bytes', () => {
    const arrays = { b: makeTensor('float32', [2], Float32Array.of(1, 2)), a: makeTensor('string', [1], ['x']) };
    const bytes = encodeNpz(arrays);
    expect(decodeNpz(bytes).names).toEqual(['b', 'a']);
    expect(decodeNpz(bytes).get('b')).toEqual(arrays.b);
    expect(encodeNpz(arrays)).toEqual(bytes);
  });
});

describe('npy arrays that are not understood', () => {
  it.each(['objects.npy', 'records.npy', 'dates.npy'])('%s is refused', async name => {
    expect(await failureOf(async () => decodeNpy(await readFixture(name)))).toMatchObject({ code: 'npy-unsupported' });
  });

  it.each([
    ["{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }\n", 'truncated'],
    ["{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } + 1\n", 'npy-malformed'],
    ["{'descr': '<f4', 'fortran_order': __import__('os'), 'shape': (1,), }\n", 'npy-malformed'],
    ["{'descr': '<f4', 'shape': (1,), }\n", 'npy-malformed'],
    ["{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }\n", 'bad-shape'],
  ])('the header %p is refused as %s', async (header, code) => {
    expect(await failureOf(() => decodeNpy(withHeader(header)))).toMatchObject({ code });
  });

  it('a file that does not start like an array is refused', async () => {
    expect(await failureOf(() => decodeNpy(Buffer.from('not an array at all')))).toMatchObject({ code: 'npy-malformed' });
  });
});
