/** Conformance of reading and writing public models. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { digestModelContent } from '../../../src/onnx/analysis/content-digest.js';
import { checkModel } from '../../../src/onnx/check/check-model.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { decodeMessage } from '../../../src/onnx/proto/codec/decode-message.js';
import { WHOLE_SCHEMA } from '../../../src/onnx/proto/codec/schema.js';
import type { GraphProto, TensorProto, ValueInfoProto } from '../../../src/onnx/proto/generated/messages.js';
import { decodeModel } from '../../../src/onnx/serde/decode-model.js';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { decodeTensorProto } from '../../../src/onnx/serde/tensor-proto.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { printModel } from '../../../src/onnx/text/print.js';
import { RuntimeError } from '../../../src/runtime/session/runtime-error.js';
import { openSession } from '../../../src/runtime/session/session.js';
import type { Tensor } from '../../../src/tensor/tensor.js';
import { findPassingTests, findRecordedModels, readRecordedTensors } from '../../support/backend-tests.js';
import { tryDamaged } from '../../support/damaged-model.js';
import { damages } from '../../support/mutate-bytes.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;
const root = shared ?? '';

const nameOf = (path: string): string => relative(root, path);
const read = (path: string): Model => decodeModel(new Uint8Array(readFileSync(path)));

/** Names of the models for which `problem` says something, with what it says. */
function findings(paths: readonly string[], problem: (path: string) => string | undefined): string[] {
  return paths.flatMap(path => {
    const found = problem(path);
    return found === undefined ? [] : [`${nameOf(path)}: ${found}`];
  });
}

suite('public models', () => {
  const backendTests = findRecordedModels('conformance/onnx');
  const all = [...backendTests, ...findRecordedModels('models', 'conformance/arithmetic', 'conformance/quantization', 'shapes')];

  it('are all there', () => {
    const recorded = JSON.parse(readFileSync(join(root, 'conformance/onnx/ort-1.30-status.json'), 'utf8'));
    const found = new Set(backendTests.map(path => relative(join(root, 'conformance/onnx'), dirname(path))));

    expect(backendTests.length).toBeGreaterThanOrEqual(1802);
    expect(Object.keys(recorded).filter(name => !found.has(name) && !name.startsWith('light/'))).toEqual([]);
  });

  it('keep their content through decoding and encoding, and encode to the same bytes again', () => {
    const differing = findings(all, path => {
      const before = read(path);
      const encoded = encodeModel(before);
      const after = decodeModel(encoded);
      if (digestModelContent(after) !== digestModelContent(before)) return 'the content differs';
      if (printModel(after) !== printModel(before)) return 'names or types differ';
      return Buffer.compare(encodeModel(after), encoded) === 0 ? undefined : 'the second encoding differs';
    });

    expect(differing.slice(0, 5)).toEqual([]);
  });

  /** The witness decodes by reflection with its own field handling; tensors and types are left to the other tests. */
  it('keep nodes, attributes, names and metadata as protobufjs itself reads them', () => {
    const schema = protobuf.parse(readFileSync(join(import.meta.dirname, '../../../../src/onnx/proto/onnx.proto'), 'utf8')).root;
    const type = schema.lookupType('onnx.ModelProto');
    const view = (bytes: Uint8Array): unknown =>
      withoutTensors(type.toObject(type.decode(bytes), { longs: String, bytes: String, defaults: true }));
    const differing = findings(all, path => {
      const bytes = new Uint8Array(readFileSync(path));
      const [before, after] = [JSON.stringify(view(bytes)), JSON.stringify(view(encodeModel(decodeModel(bytes))))];
      return before === after ? undefined : describeDifference(before, after);
    });

    expect(differing.slice(0, 5)).toEqual([]);
  });

  it('keep every field of every message, but for the forms that say the same', () => {
    const differing = findings(all, path => {
      const bytes = new Uint8Array(readFileSync(path));
      const view = (encoded: Uint8Array): string => JSON.stringify(viewMessage(decodeMessage(WHOLE_SCHEMA, 'ModelProto', encoded), '', []));
      const [before, after] = [view(bytes), view(encodeModel(decodeModel(bytes)))];
      return before === after ? undefined : describeDifference(before, after);
    });

    expect(differing.slice(0, 5)).toEqual([]);
  });

  it('are well formed', () => {
    expect(findings(all, path => checkModel(read(path))[0]?.message)).toEqual([]);
  });

  it('are the same after printing and reading the text', () => {
    const small = all.filter(path => readFileSync(path).byteLength < 300_000);
    const differing = findings(small, path => {
      const model = { ...read(path), unknown: [] };
      model.graph.unknown = [];
      const text = printModel(model, { maxElements: Number.MAX_SAFE_INTEGER });
      const again = parseModelText(text);
      if (digestModelContent(again) !== digestModelContent(model)) return 'the content differs';
      return printModel(again, { maxElements: Number.MAX_SAFE_INTEGER }) === text ? undefined : 'the text differs';
    });

    expect(differing.slice(0, 5)).toEqual([]);
  });

  it('are decoded or refused with a code when damaged', () => {
    for (const path of all.filter((_, index) => index % 300 === 7)) {
      const bytes = new Uint8Array(readFileSync(path));
      fc.assert(
        fc.property(damages, damage => void tryDamaged(bytes, damage)),
        { numRuns: 300 },
      );
    }
  });

  /** Bits are compared, as the same library runs the same operators. */
  it('give ONNX Runtime the same outputs after decoding and encoding', async () => {
    const differing: string[] = [];
    const compared = { loaded: 0, ran: 0 };
    const passing = new Set(findPassingTests());
    for (const path of backendTests.filter(path => passing.has(path) || path.includes('light'))) {
      const bytes = new Uint8Array(readFileSync(path));
      const inputs = readRecordedTensors(path, 'input');
      const before = await runModel(bytes, inputs);
      const after = await runModel(encodeModel(decodeModel(bytes)), inputs);
      if (before.kind !== 'refused') compared.loaded++;
      if (before.kind === 'ran') compared.ran++;
      if (JSON.stringify(before) !== JSON.stringify(after)) differing.push(`${nameOf(path)}: ${before.kind} became ${after.kind}`);
    }

    expect(differing.slice(0, 5)).toEqual([]);
    expect(compared.loaded).toBeGreaterThan(1350);
    expect(compared.ran).toBeGreaterThan(1050);
  }, 600_000);
});

function describeDifference(before: string, after: string): string {
  let at = 0;
  while (before[at] === after[at]) at++;
  return `…${before.slice(Math.max(0, at - 80), at + 80)}… became …${after.slice(Math.max(0, at - 80), at + 80)}…`;
}

type Run =
  | { readonly kind: 'refused' }
  | { readonly kind: 'failed' }
  | { readonly kind: 'ran'; readonly outputs: readonly (readonly [string, string])[] };

async function runModel(bytes: Uint8Array, inputs: readonly (Tensor | undefined)[]): Promise<Run> {
  try {
    const session = await openSession(bytes, { optimization: 'disabled' });
    const feeds = session.inputNames.flatMap((name, index) => {
      const tensor = inputs[index];
      return tensor === undefined ? [] : [[name, tensor] as const];
    });
    try {
      const outputs = await session.run(Object.fromEntries(feeds));
      return { kind: 'ran', outputs: Object.entries(outputs).map(([name, tensor]) => [name, describeTensor(tensor)]) };
    } finally {
      await session.close();
    }
  } catch (error) {
    if (!(error instanceof RuntimeError)) return { kind: 'failed' };
    return { kind: error.code === 'model-load' ? 'refused' : 'failed' };
  }
}

function describeTensor({ dtype, dims, data }: Tensor): string {
  const content = ArrayBuffer.isView(data)
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('hex')
    : JSON.stringify(data);
  return `${dtype} ${dims} ${content}`;
}

/**
 * A decoded message as plain data. What says the same looks the same: absent and empty fields, a tensor's data in any form, the order of value_info, value_info
 * of initializers, negative sizes.
 */
function viewMessage(message: object, kind: string, initializers: readonly string[]): unknown {
  const fields = Object.entries(message);
  if ('dataType' in message || ('dims' in message && 'rawData' in message)) return viewTensor(message as TensorProto);
  const names = 'node' in message || 'initializer' in message ? namesOfInitializers(message as GraphProto) : initializers;
  const viewed = fields.flatMap(([key, value]): [string, unknown][] => {
    if (key === 'contentStart' || key === 'contentEnd' || isAbsent(value) || value === undefined) return [];
    if (key === 'dimValue' && (value as bigint) < 0n) return [];
    if (key === 'modelVersion' && value === 0n) return [];
    const view = viewField(key, value, names);
    return isAbsent(view) ? [] : [[key, view]];
  });
  return Object.fromEntries([['', kind] as const, ...viewed.sort(([a], [b]) => (a < b ? -1 : 1))]);
}

function viewField(key: string, value: unknown, initializers: readonly string[]): unknown {
  if (ArrayBuffer.isView(value)) {
    return value instanceof Uint8Array
      ? Buffer.from(value).toString('base64')
      : Array.from(value as unknown as ArrayLike<number | bigint>, String);
  }
  if (typeof value === 'bigint') return String(value);
  if (!Array.isArray(value)) return typeof value === 'object' && value !== null ? viewMessage(value, key, initializers) : value;
  const items = key === 'valueInfo' ? value.filter((info: ValueInfoProto) => !initializers.includes(info.name ?? '')) : value;
  const views = items.map((item: unknown) => viewField(key, item, initializers));
  return key === 'valueInfo' ? views.map(view => JSON.stringify(view)).sort() : views;
}

function viewTensor(proto: TensorProto): unknown {
  const constant = decodeTensorProto(proto, undefined);
  const content = 'data' in constant ? constant.data : createHash('sha256').update(constant.bytes).digest('hex');
  const { name = '', docString = '', metadataProps = [], unknown = [] } = proto;
  return [constant.dtype, constant.dims, content, name, docString, metadataProps.length, unknown.length];
}

function namesOfInitializers({ initializer = [] }: GraphProto): readonly string[] {
  return initializer.map(({ name = '' }) => name);
}

/** A model's object form without what the codec writes in another form: tensors' contents, value types, and the order of value_info. */
function withoutTensors(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return key === 'valueInfo' ? [] : value.map(item => withoutTensors(item, key));
  if (typeof value !== 'object' || value === null) return value;
  if (['t', 'initializer', 'tensors', 'type'].includes(key)) return 'name' in value ? value.name : '';
  const entries = Object.entries(value).map(([name, member]) => [name, withoutTensors(member, name)] as const);
  return Object.fromEntries(entries.filter(([, member]) => !isAbsent(member)).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What protobuf readers see no difference in, written or not; and the ONNX domain's long name, which means the empty one. */
function isAbsent(value: unknown): boolean {
  return value === '' || value === 'ai.onnx' || value === null || (Array.isArray(value) && value.length === 0);
}
