/** Tests of zip archives. */
import { encodeZip, openZip, readZipEntry } from '../../../../src/tensor/formats/zip-archive.js';
import { failureOf } from '../../../support/error-code.js';

const text = (content: string): Uint8Array => new TextEncoder().encode(content);
const sample = (): Uint8Array =>
  encodeZip([
    ['one.txt', text('first')],
    ['folder/two.txt', text('second')],
  ]);

/** The archive with one field of the directory's first entry overwritten. */
function patchDirectory(offset: number, value: number): Uint8Array {
  const bytes = sample();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const directory = view.getUint32(bytes.length - 6, true);
  view.setUint32(directory + offset, value, true);
  return bytes;
}

describe('zip archives', () => {
  it('return the written content', () => {
    const zip = openZip(sample());
    const contents = [...zip.entries.values()].map(entry => [
      entry.name,
      Buffer.from(readZipEntry(zip, entry, { crc: 'check' })).toString(),
    ]);
    expect(contents).toEqual([
      ['one.txt', 'first'],
      ['folder/two.txt', 'second'],
    ]);
  });

  it('hold no time: equal entries give equal bytes', () => {
    expect(sample()).toEqual(sample());
  });

  it.each(['../up', '/root', 'a\\b', 'a/../b', 'C:/x', ''])('an entry named %p is neither written nor read', async name => {
    expect(await failureOf(() => encodeZip([[name, text('')]]))).toMatchObject({ code: 'entry-name' });
  });

  it.each([
    ['a size that reaches over the next entry', 24, 60, 'zip-malformed'],
    ['a packed size that reaches over the next entry', 20, 60, 'truncated'],
    ['an offset that is no entry', 42, 3, 'zip-malformed'],
    ['an offset beyond the end', 42, 1 << 30, 'truncated'],
  ])('%s is refused', async (_, offset, value, code) => {
    expect(await failureOf(() => openZip(patchDirectory(offset, value)))).toMatchObject({ code });
  });

  it('deflated entries that together expand beyond the limit are refused, though each is below it', async () => {
    const packed = new Uint8Array(2_200_000);
    const bytes = encodeZip([
      ['a', packed],
      ['b', packed],
    ]);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const directory = view.getUint32(bytes.length - 6, true);
    for (const header of [directory, directory + 46 + 1]) {
      view.setUint16(header + 10, 8, true);
      view.setUint32(header + 24, packed.length * 1000, true);
    }
    const { code, message } = await failureOf(() => openZip(bytes));
    expect([code, message]).toEqual(['zip-unsupported', expect.stringContaining('4400000000 bytes')]);
  });

  it('a changed byte is found by its CRC-32', async () => {
    const bytes = sample();
    bytes[38] = (bytes[38] ?? 0) ^ 1;
    const zip = openZip(bytes);
    const entry = zip.entries.get('one.txt');
    if (entry === undefined) throw new Error('no entry');
    expect(await failureOf(() => readZipEntry(zip, entry, { crc: 'check' }))).toMatchObject({ code: 'checksum' });
  });

  it('an encrypted entry and an unknown method are refused', async () => {
    expect(await failureOf(() => openZip(patchDirectory(8, 1)))).toMatchObject({ code: 'zip-unsupported' });
    expect(await failureOf(() => openZip(patchDirectory(10, 12)))).toMatchObject({ code: 'zip-unsupported' });
  });
});
