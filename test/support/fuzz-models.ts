/** Damage to the bytes of a model, of the kinds that protobuf readers know best, and a digest of everything that looks at a model. */
import fc from 'fast-check';
import { isCodedError } from '../../src/base/coded-error.js';
import { digestModelContent } from '../../src/onnx/analysis/content-digest.js';
import { measureModel } from '../../src/onnx/analysis/model-stats.js';
import { checkModel, findProblems } from '../../src/onnx/check/check-model.js';
import { listUnchecked } from '../../src/onnx/check/operators.js';
import { diffModels } from '../../src/onnx/diff/diff-models.js';
import { cloneModel } from '../../src/onnx/ir/clone.js';
import { subgraphsOf } from '../../src/onnx/ir/edit.js';
import type { Graph, Model } from '../../src/onnx/ir/model.js';
import { sortTopologically } from '../../src/onnx/ir/sort.js';
import { convertOpset } from '../../src/onnx/opset/convert-opset.js';
import { SIMPLIFY_PASSES, simplifyToFixedPoint } from '../../src/onnx/passes/simplify.js';
import { decodeMessage } from '../../src/onnx/proto/codec/decode-message.js';
import { encodeMessage } from '../../src/onnx/proto/codec/encode-message.js';
import { WHOLE_SCHEMA } from '../../src/onnx/proto/codec/schema.js';
import { decodeModel } from '../../src/onnx/serde/decode-model.js';
import { encodeModel } from '../../src/onnx/serde/encode-model.js';
import { inferShapes } from '../../src/onnx/shape-inference/infer-shapes.js';
import { extractSubgraph } from '../../src/onnx/surgery/extract.js';
import { mergeModels } from '../../src/onnx/surgery/merge-models.js';
import { removeNodes } from '../../src/onnx/surgery/remove-node.js';
import { parseModelText } from '../../src/onnx/text/parse-text.js';
import { printModel } from '../../src/onnx/text/print.js';
import { share } from './share.js';

/** One change of bytes; places are shares of the length. */
export type Mutation =
  | { readonly kind: 'cut'; readonly at: number }
  | { readonly kind: 'flip'; readonly at: number; readonly bits: number }
  | { readonly kind: 'set'; readonly at: number; readonly bytes: readonly number[] }
  | { readonly kind: 'insert'; readonly at: number; readonly bytes: readonly number[] }
  | { readonly kind: 'remove'; readonly at: number; readonly count: number }
  /** A piece from elsewhere in the same file. */
  | { readonly kind: 'repeat'; readonly from: number; readonly at: number; readonly count: number };

/** Varints at the ends of their ranges, tags of every wire type, and numbers that are often special. */
const TELLING: readonly (readonly number[])[] = [
  [0],
  [1],
  [0x7f],
  [0xff],
  [0x80],
  [0xff, 0xff, 0xff, 0xff, 0x07],
  [0xff, 0xff, 0xff, 0xff, 0x0f],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
  [0x80, 0x80, 0x80, 0x80, 0x80, 0x20],
  [0x08],
  [0x0a],
  [0x0b],
  [0x0c],
  [0x0d],
  [0x12],
  [0x3a],
  [0, 0, 0x80, 0x7f],
  [0, 0, 0xc0, 0x7f],
];

const bytes = fc.oneof(fc.constantFrom(...TELLING), fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 1, maxLength: 6 }));

export const mutations: fc.Arbitrary<readonly Mutation[]> = fc.array(
  fc.oneof(
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('cut' as const), at: share }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('flip' as const), at: share, bits: fc.integer({ min: 1, max: 255 }) }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('set' as const), at: share, bytes }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('insert' as const), at: share, bytes }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), at: share, count: fc.integer({ min: 1, max: 40 }) }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('repeat' as const), from: share, at: share, count: fc.integer({ min: 1, max: 80 }) }),
    },
  ),
  { minLength: 1, maxLength: 6 },
);

export function mutate(original: Uint8Array, changes: readonly Mutation[]): Uint8Array {
  let now: Uint8Array = Uint8Array.from(original);
  for (const change of changes) now = applyMutation(now, change);
  return now;
}

function applyMutation(from: Uint8Array, change: Mutation): Uint8Array {
  const at = Math.floor(change.at * from.length);
  const join = (...parts: readonly Iterable<number>[]): Uint8Array => Uint8Array.from(parts.flatMap(part => [...part]));
  switch (change.kind) {
    case 'cut':
      return from.slice(0, at);
    case 'flip':
      return from.map((byte, index) => (index === at ? byte ^ change.bits : byte));
    case 'set':
      return join(from.subarray(0, at), change.bytes, from.subarray(at + change.bytes.length));
    case 'insert':
      return join(from.subarray(0, at), change.bytes, from.subarray(at));
    case 'remove':
      return join(from.subarray(0, at), from.subarray(at + change.count));
    case 'repeat': {
      const start = Math.floor(change.from * from.length);
      return join(from.subarray(0, at), from.subarray(start, start + change.count), from.subarray(at));
    }
  }
}

/** Passes that need no runtime: an evaluator that refuses everything is as good as one that cannot run a damaged model. */
const PASSES = SIMPLIFY_PASSES.filter(({ name }) => name !== 'fold-constants');

/**
 * Does with `file` what commands do. @returns how far it came. @throws what is no typed error: a defect of the library.
 */
export async function digest(file: Uint8Array): Promise<'refused' | 'decoded' | 'sound'> {
  let model: Model;
  try {
    model = decodeModel(file);
  } catch (error) {
    if (isCodedError(error)) return 'refused';
    throw error;
  }
  const encoded = encodeModel(model);
  const again = decodeModel(encoded);
  if (Buffer.compare(encodeModel(again), encoded) !== 0) throw new Error('a model encodes otherwise the second time');
  printModel(model);
  for (const _ of allGraphs(model.graph));
  try {
    const problems = checkModel(model, 'structure');
    if (checkModel(model).length < problems.length) throw new Error('the whole check finds less than that of the structure');
    listUnchecked(model);
    digestModelContent(model);
    if (problems.length > 0) return 'decoded';
  } catch (error) {
    if (isCodedError(error)) return 'decoded';
    throw error;
  }
  await useSound(model, again);
  return 'sound';
}

/** Well formed as it is, its operators may still contradict themselves: that is said with a code. */
async function useSound(model: Model, again: Model): Promise<void> {
  sortTopologically(model.graph);
  sortTopologically(again.graph);
  const steps: (() => unknown)[] = [
    () => measureModel(model, inferShapes(model)),
    () => diffModels(model, again),
    () => mergeModels(model, again, { connect: {}, prefix: { second: 'second/' } }),
    () => extractSubgraph(model, { inputs: namesOf(model, 'inputs'), outputs: namesOf(model, 'outputs').slice(0, 1) }),
    () => removeNodes(cloneModel(model), { select: '*', matches: 'any' }),
    () => parseModelText(printModel(model, { maxElements: 10_000 })),
    () => convertOpset(again, 21),
    () =>
      simplifyToFixedPoint(model, {
        evaluate: refuse,
        foldLimitBytes: 1 << 16,
        passes: PASSES,
        check: one => findProblems(one, 'structure'),
      }),
  ];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      if (!isCodedError(error)) throw error;
    }
  }
}

function namesOf({ graph }: Model, side: 'inputs' | 'outputs'): string[] {
  return graph[side].map(id => graph.values.get(id)?.name ?? '');
}

const refuse = (): Promise<never> => Promise.reject(new Error('nothing is evaluated'));

function* allGraphs(graph: Graph): Generator<Graph> {
  yield graph;
  for (const node of graph.nodes.values()) for (const sub of subgraphsOf(node)) yield* allGraphs(sub);
}

/** Places are shares of all that a message holds, at any depth. */
export interface FieldMutation {
  readonly at: number;
  readonly how: number;
  readonly value: bigint;
}

const SPECIAL = [0n, 1n, -1n, 2n, 3n, 7n, 13n, 255n, 2n ** 31n - 1n, 2n ** 31n, 2n ** 40n, 2n ** 53n, 2n ** 62n, -(2n ** 63n)];

export const fieldMutations: fc.Arbitrary<readonly FieldMutation[]> = fc.array(
  fc.record({ at: share, how: share, value: fc.oneof(fc.constantFrom(...SPECIAL), fc.bigInt({ min: -20n, max: 20n })) }),
  { minLength: 1, maxLength: 3 },
);

/** Changes fields of a model's messages and encodes them again: what comes out is protobuf, whatever else it is. */
export function mutateFields(original: Uint8Array, changes: readonly FieldMutation[]): Uint8Array {
  const model = decodeMessage(WHOLE_SCHEMA, 'ModelProto', Uint8Array.from(original));
  for (const change of changes) {
    const slots = [...slotsOf(model)];
    const texts = slots.map(({ value }) => value).filter(value => typeof value === 'string');
    const slot = slots[Math.floor(change.at * slots.length)];
    slot?.put(changeValue(slot.value, change, texts));
  }
  return encodeMessage('ModelProto', model);
}

interface Slot {
  readonly value: unknown;
  readonly put: (value: unknown) => void;
}

function* slotsOf(message: object): Generator<Slot> {
  const record = message as Record<string, unknown>;
  for (const [key, value] of Object.entries(record)) {
    if (key === 'contentStart' || key === 'contentEnd' || key === 'unknown') continue;
    yield {
      value,
      put(changed) {
        record[key] = changed;
      },
    };
    const items = Array.isArray(value) ? value : [value];
    for (const [index, item] of items.entries()) {
      if (typeof item === 'string' && Array.isArray(value)) {
        yield {
          value: item,
          put(changed) {
            value[index] = String(changed);
          },
        };
      }
      if (typeof item === 'object' && item !== null && !ArrayBuffer.isView(item)) yield* slotsOf(item);
    }
  }
}

function changeValue(value: unknown, { how, value: number }: FieldMutation, texts: readonly string[]): unknown {
  if (typeof value === 'bigint') return BigInt.asIntN(64, number);
  if (typeof value === 'number') return Number(BigInt.asIntN(32, number));
  if (typeof value === 'string') return texts[Math.floor(how * texts.length)] ?? '';
  if (value instanceof Uint8Array) return value.slice(0, Math.floor(how * value.length));
  if (value instanceof BigInt64Array) return changeInts(value, how, number);
  if (Array.isArray(value)) {
    const at = Math.floor(how * value.length);
    return number % 2n === 0n ? value.filter((_, index) => index !== at) : [...value, ...value.slice(at, at + 1)];
  }
  return undefined;
}

function changeInts(values: BigInt64Array, how: number, number: bigint): BigInt64Array {
  if (how > 0.8) return BigInt64Array.from([...values, number]);
  if (how > 0.6) return values.slice(1);
  return values.map((value, index) => (index === Math.floor((how / 0.6) * values.length) ? BigInt.asIntN(64, number) : value));
}
