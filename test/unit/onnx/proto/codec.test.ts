/** Tests of the protobuf codec against protobufjs. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import protobuf from 'protobufjs';
import { decodeMessage } from '../../../../src/onnx/proto/codec/decode-message.js';
import { encodeMessage } from '../../../../src/onnx/proto/codec/encode-message.js';
import { makeSchema, WHOLE_SCHEMA } from '../../../../src/onnx/proto/codec/schema.js';
import { FIELDS } from '../../../../src/onnx/proto/generated/messages.js';
import { failureOf } from '../../../support/error-code.js';

/** protobufjs's own reflection on onnx.proto: it shares the reader and writer with our codec, and neither tables nor field handling. */
const root = protobuf.parse(readFileSync(resolve(import.meta.dirname, '../../../../../src/onnx/proto/onnx.proto'), 'utf8')).root;
root.resolveAll();
const witness = (name: string): protobuf.Type => root.lookupType(`onnx.${name}`);
const encodeByWitness = (name: string, value: object): Uint8Array =>
  Uint8Array.from(witness(name).encode(witness(name).fromObject(value)).finish());

describe('the generated field tables', () => {
  it('are those of onnx.proto', () => {
    const flat = (type: string): string => type.replace(/^\.?onnx\./, '').replaceAll('.', '');
    const expected = Object.fromEntries(
      Object.keys(FIELDS).map(name => {
        const type = [...allTypes(root)].find(candidate => flat(candidate.fullName) === name);
        const fields = [...(type?.fieldsArray ?? [])].sort((a, b) => a.id - b.id);
        return [
          name,
          fields.map(field => ({
            id: field.id,
            name: field.name,
            kind: field.resolvedType instanceof protobuf.Enum ? 'int32' : flat(field.resolvedType?.fullName ?? field.type),
            form: field.repeated ? (field.packed ? 'packed' : 'repeated') : 'single',
          })),
        ];
      }),
    );

    expect(Object.keys(FIELDS)).toHaveLength([...allTypes(root)].length);
    expect(FIELDS).toEqual(expected);
  });
});

function* allTypes(namespace: protobuf.NamespaceBase): Generator<protobuf.Type> {
  for (const item of namespace.nestedArray) {
    if (item instanceof protobuf.Type) yield item;
    if (item instanceof protobuf.Namespace) yield* allTypes(item);
  }
}

describe('encoding', () => {
  it('gives the bytes that protobufjs gives', () => {
    const strings = {
      name: 'n',
      opType: 'Conv',
      input: ['a', '', 'é'.repeat(200)],
      attribute: [
        { name: 'i', i: -1, type: 2 },
        { name: 'f', f: 0.1 },
      ],
    };

    expect(
      encodeMessage('NodeProto', {
        ...strings,
        attribute: [
          { name: 'i', i: -1n, type: 2 },
          { name: 'f', f: 0.1 },
        ],
      }),
    ).toEqual(encodeByWitness('NodeProto', strings));
    expect(
      encodeMessage('TensorProto', {
        dims: BigInt64Array.of(2n, 300n),
        int64Data: BigInt64Array.of(5n, -5n, 2n ** 40n),
        doubleData: Float64Array.of(1.5),
      }),
    ).toEqual(encodeByWitness('TensorProto', { dims: [2, 300], int64Data: [5, -5, 2 ** 40], doubleData: [1.5] }));
  });

  it('gives these bytes wherever a block of the writer ends', () => {
    // Blocks have 4 KiB and 64 KiB; bytes from 64 KiB on are not copied.
    const sizes = [4_096, 65_536, 2 * 65_536].flatMap(size => Array.from({ length: 24 }, (_, index) => size - 20 + index));
    for (const size of [0, 1, 127, 128, ...sizes]) {
      const raw = Uint8Array.from({ length: size }, (_, index) => index % 251);
      const given = { name: 'w'.repeat(5), docString: 'é', dataType: 1 };
      const found = encodeMessage('TensorProto', { ...given, dims: BigInt64Array.of(BigInt(size)), rawData: raw });
      expect(Buffer.compare(found, encodeByWitness('TensorProto', { ...given, dims: [size], rawData: raw }))).toBe(0);
    }
    const names = Array.from({ length: 30_000 }, (_, index) => `value/${index}${index % 7 === 0 ? 'ü' : ''}`);
    expect(Buffer.compare(encodeMessage('NodeProto', { input: names }), encodeByWitness('NodeProto', { input: names }))).toBe(0);
  });

  it('writes equal messages identically, independent of the order in which fields were set', () => {
    expect(encodeMessage('OperatorSetIdProto', { version: 3n, domain: 'd' })).toEqual(
      encodeMessage('OperatorSetIdProto', { domain: 'd', version: 3n }),
    );
  });
});

describe('decoding', () => {
  it('gives integers of 64 bits exactly', () => {
    const extremes = [0n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, 127n, 128n, 2n ** 31n, 2n ** 32n - 1n];
    const encoded = encodeMessage('TensorProto', {
      int64Data: BigInt64Array.from(extremes),
      uint64Data: BigUint64Array.of(2n ** 64n - 1n, 7n),
    });

    const decoded = decodeMessage(WHOLE_SCHEMA, 'TensorProto', encoded);

    expect(decoded.int64Data).toEqual(BigInt64Array.from(extremes));
    expect(decoded.uint64Data).toEqual(BigUint64Array.of(2n ** 64n - 1n, 7n));
  });

  it('reads single values and packed chunks of one field in file order', () => {
    const floats = Uint8Array.of(0x22, 4, 0, 0, 128, 63, 0x25, 0, 0, 0, 64, 0x22, 8, 0, 0, 64, 64, 0, 0, 128, 64);
    const ints = Uint8Array.of(0x2a, 2, 1, 2, 0x28, 0x83, 0x01, 0x2a, 0, 0x28, 4);

    expect(decodeMessage(WHOLE_SCHEMA, 'TensorProto', floats).floatData).toEqual(Float32Array.of(1, 2, 3, 4));
    expect(decodeMessage(WHOLE_SCHEMA, 'TensorProto', ints).int32Data).toEqual(Int32Array.of(1, 2, 131, 4));
  });

  it('reads a negative int32 written as ten bytes', () => {
    expect(decodeMessage(WHOLE_SCHEMA, 'TensorProto', encodeByWitness('TensorProto', { int32Data: [-3] })).int32Data).toEqual(
      Int32Array.of(-3),
    );
  });

  it('keeps unknown fields, fields of another wire type and opaque fields byte for byte, and writes them last', () => {
    const unknown = [Uint8Array.of(0xfa, 0x3f, 2, 7, 7), Uint8Array.of(0x08, 1), Uint8Array.of(0xf3, 0x3f, 0x08, 1, 0xf4, 0x3f)];
    const opaque = Uint8Array.of(0x72, 2, 0x0a, 0);
    const named = Uint8Array.of(0x12, 1, 0x67);
    const bytes = Uint8Array.from([unknown[0] ?? [], opaque, unknown[1] ?? [], named, unknown[2] ?? []].flatMap(part => [...part]));

    const graph = decodeMessage(makeSchema(['GraphProto.quantizationAnnotation']), 'GraphProto', bytes);

    expect(graph.name).toBe('g');
    expect(graph.unknown).toEqual([unknown[0], opaque, unknown[1], unknown[2]]);
    expect(encodeMessage('GraphProto', graph)).toEqual(
      Uint8Array.from([named, unknown[0] ?? [], opaque, unknown[1] ?? [], unknown[2] ?? []].flatMap(part => [...part])),
    );
  });

  it.each([
    ['a field that is cut off', Uint8Array.of(0x3a, 5, 1)],
    ['a tag that is cut off', Uint8Array.of(0xfa)],
    ['a length beyond the message', Uint8Array.of(0x3a, 0xff, 0xff, 0xff, 0xff, 7)],
    ['two graphs', Uint8Array.of(0x3a, 0, 0x3a, 0)],
    ['a varint of eleven bytes', Uint8Array.of(0x08, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1)],
    ['a packed field that ends inside a value', Uint8Array.of(0x3a, 7, 0x2a, 5, 0x22, 3, 0, 0, 0)],
    ['a group that does not end', Uint8Array.of(0xfb, 0x3f)],
    ['field number 0', Uint8Array.of(0x02, 0)],
  ])('refuses %s', async (_, bytes) => {
    expect((await failureOf(() => decodeMessage(WHOLE_SCHEMA, 'ModelProto', bytes))).code).toBe('model-malformed');
  });

  it('refuses graphs nested without end', async () => {
    let graph: Uint8Array = new Uint8Array(0);
    for (let depth = 0; depth < 60; depth++) graph = encodeMessage('GraphProto', { node: [{ attribute: [{ g: { encoded: graph } }] }] });

    const { code, message } = await failureOf(() => decodeMessage(WHOLE_SCHEMA, 'GraphProto', graph));

    expect(code).toBe('model-malformed');
    expect(message).toContain('nested deeper than 100');
  });
});
