/** Frames of the runner protocol: written, read, and refused. */
import fc from 'fast-check';
import { createFrameReader, encodeFrame } from '../../../../src/runtime/external/frames.js';

const join = (pieces: readonly Uint8Array[]): Buffer => Buffer.concat(pieces);

describe('frames', () => {
  it('have the documented form', () => {
    const bytes = join(encodeFrame({ id: 7 }, [Uint8Array.from([1, 2]), Uint8Array.from([3])]));
    expect(bytes.toString('latin1')).toBe('TNR1\x08\0\0\0\x03\0\0\0\0\0\0\0{"id":7}\x01\x02\x03');
  });

  it('are read as written, for every division into chunks', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.dictionary(fc.string(), fc.string()), fc.uint8Array({ maxLength: 40 })), { maxLength: 4 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }),
        (messages, cuts) => {
          const bytes = join(messages.flatMap(([header, payload]) => encodeFrame(header, [payload])));
          const reader = createFrameReader();
          const found = [];
          for (let at = 0, cut = 0; at < bytes.length; at += cuts[cut % cuts.length] ?? 1, cut++) {
            found.push(...reader.take(bytes.subarray(at, at + (cuts[cut % cuts.length] ?? 1))));
          }
          expect(found.map(({ header, payload }) => [header, [...payload]])).toEqual(
            messages.map(([header, payload]) => [JSON.parse(JSON.stringify(header)), [...payload]]),
          );
          expect(reader.isBetweenFrames()).toBe(true);
        },
      ),
    );
  });

  it('have payloads aligned for float arrays', () => {
    const reader = createFrameReader();
    const [frame] = reader.take(join(encodeFrame({ odd: 'x' }, [new Uint8Array(8)])));
    expect((frame?.payload.byteOffset ?? 1) % 8).toBe(0);
  });

  it.each([
    ['another start, without waiting for more', 'Hello', 'runner-garbage'],
    ['a wrong byte in the magic', 'TNR2', 'runner-garbage'],
    ['a header that is not JSON', 'TNR1\x03\0\0\0\0\0\0\0\0\0\0\0{a}', 'runner-protocol'],
    ['a header that is not an object', 'TNR1\x02\0\0\0\0\0\0\0\0\0\0\0[]', 'runner-protocol'],
    ['a header that is not UTF-8', 'TNR1\x04\0\0\0\0\0\0\0\0\0\0\0{"\xff}', 'runner-protocol'],
    ['a header beyond the limit', 'TNR1\x01\0\x10\0\0\0\0\0\0\0\0\0', 'runner-protocol'],
    ['a payload beyond the limit', 'TNR1\x01\0\0\0\0\0\0\x80\0\0\0\0', 'runner-protocol'],
  ])('with %s are refused', (_, text, code) => {
    const reader = createFrameReader();
    expect(() => reader.take(Buffer.from(text, 'latin1'))).toThrow(expect.objectContaining({ code }));
  });

  it('that announce more bytes than they send allocate only the bytes sent', () => {
    const reader = createFrameReader();
    const before = process.memoryUsage().arrayBuffers;
    expect(reader.take(Buffer.from('TNR1\x02\0\0\0\xff\xff\xff\x7f\0\0\0\0{}', 'latin1'))).toEqual([]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1 << 20);
    expect(reader.isBetweenFrames()).toBe(false);
  });
});
