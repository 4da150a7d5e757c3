/** Messages of the Remote Execution API: canonical bytes, and bytes of strangers. */
import protobuf from 'protobufjs/minimal.js';
import { ACTION, ACTION_RESULT, CAPABILITIES, DIGEST, DIRECTORY, STATUS } from '../../../src/remote/wire/reapi.js';

const HASH = 'ab'.repeat(32);

it('a message has its fields in the order of their numbers, without default values', () => {
  const encoded = DIGEST.encode({ sizeBytes: 300, hash: 'ab' });
  expect(Buffer.from(encoded).toString('hex')).toBe('0a026162' + '10ac02');
  expect(DIGEST.encode({ hash: '', sizeBytes: 0 })).toHaveLength(0);
  // A message that is there but empty is no default.
  expect(Buffer.from(ACTION.encode({ commandDigest: { hash: '', sizeBytes: 0 } })).toString('hex')).toBe('0a00');
});

it('a message that is decoded has every field, and encodes to the same bytes', () => {
  const bytes = ACTION_RESULT.encode({
    outputFiles: [{ path: 'a', digest: { hash: HASH, sizeBytes: 2 ** 40 }, isExecutable: true, contents: Buffer.from('x') }],
    exitCode: -1,
  });
  const result = ACTION_RESULT.decode(bytes);
  expect(result.outputFiles[0]?.digest).toEqual({ hash: HASH, sizeBytes: 2 ** 40 });
  expect(result.exitCode).toBe(-1);
  expect(result.outputDirectories).toEqual([]);
  expect(ACTION_RESULT.encode(result)).toEqual(bytes);
});

it('fields that the table does not list are ignored, and lists of numbers are read packed and unpacked', () => {
  const writer = protobuf.Writer.create();
  writer.uint32((1 << 3) | 2).fork();
  writer.uint32((1 << 3) | 0).int32(1);
  writer
    .uint32((1 << 3) | 2)
    .fork()
    .int32(2)
    .int32(3)
    .ldelim();
  writer.uint32((99 << 3) | 2).string('later');
  writer.ldelim();
  expect(CAPABILITIES.decode(writer.finish()).cacheCapabilities?.digestFunctions).toEqual([1, 2, 3]);
});

it.each([
  ['a field that ends too late', '0a05616263'],
  ['a length beyond the message', '0affffffff0f'],
  ['a tag alone', '0a'],
  ['an integer beyond the safe ones', '10ffffffffffffffff7f'],
  ['a group that does not end', '0b'],
])('%s is refused with a code', (_what, hex) => {
  expect(() => DIGEST.decode(Buffer.from(hex, 'hex'))).toThrow(expect.objectContaining({ code: 'remote-broken' }));
});

it('any bytes give a message or a coded error', () => {
  let state = 12;
  const next = (): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return state >>> 16;
  };
  const whole = Buffer.from(
    DIRECTORY.encode({ files: [{ name: 'a', digest: { hash: HASH, sizeBytes: 1 }, isExecutable: false }], directories: [], symlinks: [] }),
  );
  for (let round = 0; round < 2000; round++) {
    const bytes = Buffer.from(whole);
    for (let edit = 0; edit < 1 + (next() % 4); edit++) bytes[next() % bytes.length] = next() & 255;
    for (const message of [DIRECTORY, ACTION_RESULT, STATUS]) {
      try {
        message.decode(bytes.subarray(0, 1 + (next() % bytes.length)));
      } catch (error) {
        expect(error).toMatchObject({ code: 'remote-broken' });
      }
    }
  }
});
