/** Archives are read as they were written, in chunks of any size, and other input is rejected. */
import fc from 'fast-check';
import type { Digest } from '../../../../../src/base/digest.js';
import { digestBytes } from '../../../../../src/base/digest.js';
import { ARCHIVE_HEADER, encodeEnd, encodeHead, readFrames } from '../../../../../src/engine/store/archive/archive-format.js';

function encode(bodies: readonly Uint8Array[]): Buffer {
  const frames = bodies.map(body => [encodeHead({ kind: 'blob', name: digestBytes(body), sizeBytes: body.length }), body] as const);
  return Buffer.concat([ARCHIVE_HEADER, ...frames.flat(), encodeEnd(bodies.length)].map(part => Buffer.from(part as Uint8Array)));
}

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function decode(bytes: Buffer, size = 7, read: 'all' | 'some' | 'none' = 'all'): Promise<readonly (readonly [Digest, Buffer])[]> {
  const found: (readonly [Digest, Buffer])[] = [];
  for await (const { name, body } of readFrames({ name: 'archive', chunks: pieces(bytes, size) })) {
    const chunks: Buffer[] = [];
    if (read !== 'none')
      for await (const chunk of body) {
        chunks.push(chunk);
        if (read === 'some') break;
      }
    found.push([name, Buffer.concat(chunks)]);
  }
  return found;
}

describe('readFrames', () => {
  it('returns the written content for chunks of any size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 5 }),
        fc.integer({ min: 1, max: 400 }),
        async (bodies, size) => {
          const read = await decode(encode(bodies), size);
          expect(read.map(([name]) => name)).toEqual(bodies.map(body => digestBytes(body)));
          expect(read.map(([, body]) => [...body])).toEqual(bodies.map(body => [...body]));
        },
      ),
      { numRuns: 60 },
    );
  });

  it.each(['some', 'none'] as const)('passes over bodies of which %s is read', async read => {
    const bodies = [Buffer.from('first'), Buffer.alloc(1000, 'x'), Buffer.alloc(0), Buffer.from('last')];
    expect((await decode(encode(bodies), 16, read)).map(([name]) => name)).toEqual(bodies.map(body => digestBytes(body)));
  });

  it('knows an archive that is cut anywhere', async () => {
    const whole = encode([Buffer.from('first'), Buffer.from('second')]);
    for (let length = 0; length < whole.length; length++)
      await expect(decode(whole.subarray(0, length))).rejects.toMatchObject({ code: 'archive-truncated' });
  });

  const digest = digestBytes('x');
  it.each([
    ['another file', 'PK\u0003\u0004 something\n', 'archive-malformed'],
    ['a file without lines', 'x'.repeat(1000), 'archive-malformed'],
    ['a newer version', 'tanren-archive 2\n', 'archive-version'],
    ['a frame of an unknown kind', `${ARCHIVE_HEADER}file ${digest} 1\nx`, 'archive-malformed'],
    ['a path in place of a digest', `${ARCHIVE_HEADER}blob ../../../../etc/passwd 1\nx`, 'archive-malformed'],
    ['a digest in capitals', `${ARCHIVE_HEADER}blob ${digest.toUpperCase()} 1\nx`, 'archive-malformed'],
    ['a negative size', `${ARCHIVE_HEADER}blob ${digest} -1\nx`, 'archive-malformed'],
    ['a size beyond numbers', `${ARCHIVE_HEADER}blob ${digest} 9999999999999999\nx`, 'archive-malformed'],
    ['a size with a sign or zeros', `${ARCHIVE_HEADER}blob ${digest} 01\nx`, 'archive-malformed'],
    ['a wrong count at the end', `${ARCHIVE_HEADER}end 3\n`, 'archive-malformed'],
    ['something after the end', `${ARCHIVE_HEADER}end 0\nx`, 'archive-malformed'],
    ['a head without end', `${ARCHIVE_HEADER}blob ${'0'.repeat(500)}`, 'archive-malformed'],
  ])('refuses %s', async (_name, text, code) => {
    await expect(decode(Buffer.from(text))).rejects.toMatchObject({ code });
  });
});
