/** Tests of the .safetensors format. */
import { decodeSafetensors, encodeSafetensors } from '../../../../src/tensor/formats/safetensors.js';
import type { RawTensor } from '../../../../src/tensor/tensor.js';
import { failureOf } from '../../../support/error-code.js';

function file(header: unknown, buffer = 0): Uint8Array {
  const json = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const start = Buffer.alloc(8);
  start.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([start, json, Buffer.alloc(buffer)]);
}

const entry = (begin: number, end: number, shape = [(end - begin) / 4], dtype = 'F32'): unknown => ({
  dtype,
  shape,
  data_offsets: [begin, end],
});

describe('safetensors', () => {
  it('tensors and metadata survive writing and reading, in an order of their own', () => {
    const tensors = new Map<string, RawTensor>([
      ['b', { dtype: 'int8', dims: [3], bytes: Uint8Array.of(1, 2, 3) }],
      ['10', { dtype: 'float32', dims: [1], bytes: Uint8Array.of(0, 0, 128, 63) }],
      ['9', { dtype: 'float32', dims: [0, 4], bytes: new Uint8Array(0) }],
    ]);
    const bytes = encodeSafetensors(tensors, new Map([['format', 'pt']]));
    const read = decodeSafetensors(bytes);
    expect(new Map([...read.tensors].map(([name, tensor]) => [name, { ...tensor, bytes: Uint8Array.from(tensor.bytes) }]))).toEqual(
      tensors,
    );
    expect(read.metadata).toEqual(new Map([['format', 'pt']]));
    expect(encodeSafetensors(new Map([...tensors].reverse()), read.metadata)).toEqual(bytes);
  });

  it.each([
    ['no JSON', file('{"a"'), 'safetensors-malformed'],
    ['a list as header', file([]), 'safetensors-malformed'],
    ['overlapping tensors', file({ a: entry(0, 8), b: entry(4, 8) }, 8), 'safetensors-malformed'],
    ['a gap', file({ a: entry(0, 4), b: entry(8, 12) }, 12), 'safetensors-malformed'],
    ['bytes of no tensor', file({ a: entry(0, 4) }, 8), 'safetensors-malformed'],
    ['a shape that does not fit its bytes', file({ a: entry(0, 8, [3]) }, 8), 'safetensors-malformed'],
    ['a shape that cannot be counted', file({ a: entry(0, 8, [2 ** 52, 2 ** 52]) }, 8), 'bad-shape'],
    ['an unknown dtype', file({ a: entry(0, 8, [2], 'F12') }, 8), 'safetensors-unsupported'],
    ['a tensor beyond the end', file({ a: entry(0, 8) }, 4), 'truncated'],
    ['a header beyond the end', file({ a: entry(0, 8) }).subarray(0, 20), 'truncated'],
  ])('%s is refused', async (_, bytes, code) => {
    expect(await failureOf(() => decodeSafetensors(bytes))).toMatchObject({ code });
  });

  it('a header size beyond any file is refused before anything is allocated', async () => {
    const bytes = file({});
    new DataView(bytes.buffer, bytes.byteOffset).setBigUint64(0, 2n ** 63n, true);
    expect(await failureOf(() => decodeSafetensors(bytes))).toMatchObject({ code: 'truncated' });
  });

  it('a dtype that the format lacks is not written', async () => {
    const tensors = new Map<string, RawTensor>([['a', { dtype: 'int4', dims: [2], bytes: Uint8Array.of(0) }]]);
    expect(await failureOf(() => encodeSafetensors(tensors))).toMatchObject({ code: 'safetensors-unsupported' });
  });
});
