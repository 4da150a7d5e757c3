/** Compares the outputs of two models on the same inputs, per output and merged over samples. */

import { getDefined } from '../../base/invariant.js';
import { type ComparisonFigures, figuresOf, type Moments, standardDeviationOf } from '../../tensor/compare.js';
import type { DType } from '../../tensor/dtype.js';
import { decodeBfloat16Array, decodeFloat16Array } from '../../tensor/numeric/half.js';
import { addSample, NOTHING_COMPARED, type ReferenceComparison } from '../../tensor/reference-comparison.js';
import { sameShape } from '../../tensor/shape.js';
import type { Tensor } from '../../tensor/tensor.js';
import { RuntimeError } from '../session/runtime-error.js';
import { openSession, type Session, type SessionOptions } from '../session/session.js';

export interface OutputComparison extends ComparisonFigures {
  /** Type of the first model's output; absent without samples. */
  readonly dtype?: DType;
  /** Of the first model's output. */
  readonly standardDeviation: number;
  /** Largest absolute value of the first model's output. */
  readonly magnitude: number;
  /** Whether the shapes are equal in all samples. */
  readonly shapes: 'equal' | 'different';
  /** Elements whose bits differ, and how many of these are a positive and a negative zero. */
  readonly differentBits: number;
  readonly differentZeros: number;
}

export interface ComparedModels {
  readonly samples: number;
  readonly outputs: Readonly<Record<string, OutputComparison>>;
}

/** A model as a path or as bytes. */
export type ModelSource = string | Uint8Array;

/**
 * Runs both models on each of `feeds` and compares the outputs of the first model, in its order.
 * @throws RuntimeError `model-load`, `model-run`; `outputs-differ` if the second model lacks an output.
 */
export function compareModels(
  before: ModelSource,
  after: ModelSource,
  feeds: Iterable<Feeds> | AsyncIterable<Feeds>,
  options: SessionOptions,
  afterOptions: SessionOptions = options,
  sessions: Sessions = 'together',
): Promise<ComparedModels> {
  const compare = sessions === 'together' ? compareTogether : compareInTurn;
  return compare({ before, after, feeds, options, afterOptions });
}

/** 'together': both sessions are open, and one sample is in memory. 'in turn': one session is open, and the outputs of the first for all samples are in memory. */
export type Sessions = 'together' | 'in turn';

interface Comparing {
  readonly before: ModelSource;
  readonly after: ModelSource;
  readonly feeds: Iterable<Feeds> | AsyncIterable<Feeds>;
  readonly options: SessionOptions;
  readonly afterOptions: SessionOptions;
}

async function compareInTurn({ before, after, feeds, options, afterOptions }: Comparing): Promise<ComparedModels> {
  const given: Feeds[] = [];
  const outputs: Feeds[] = [];
  const first = await openSession(before, options);
  try {
    for await (const feed of feeds) {
      given.push(feed);
      outputs.push(await first.run(feed));
    }
  } finally {
    await first.close();
  }
  const replay: Session = { ...first, run: async feed => getDefined(outputs[given.indexOf(feed)], 'the outputs of a sample') };
  const second = await openSession(after, afterOptions);
  try {
    return await compareSessions(replay, second, given);
  } finally {
    await second.close();
  }
}

async function compareTogether({ before, after, feeds, options, afterOptions }: Comparing): Promise<ComparedModels> {
  const first = await openSession(before, options);
  try {
    const second = await openSession(after, afterOptions);
    try {
      return await compareSessions(first, second, feeds);
    } finally {
      await second.close();
    }
  } finally {
    await first.close();
  }
}

type Feeds = Readonly<Record<string, Tensor>>;

async function compareSessions(first: Session, second: Session, feeds: Iterable<Feeds> | AsyncIterable<Feeds>): Promise<ComparedModels> {
  const names = first.outputNames;
  const missing = names.filter(name => !second.outputNames.includes(name));
  if (missing.length > 0)
    throw new RuntimeError('outputs-differ', `the second model has no output ${missing.map(name => `"${name}"`).join(', ')}`);
  const sums = new Map(names.map(name => [name, NOTHING]));
  let samples = 0;
  for await (const feed of feeds) {
    const [left, right] = [await first.run(feed), await second.run(feed)];
    for (const name of names) sums.set(name, add(sums.get(name) ?? NOTHING, left[name], right[name]));
    samples++;
  }
  return { samples, outputs: Object.fromEntries([...sums].map(([name, sum]) => [name, conclude(sum)])) };
}

interface Sums extends ReferenceComparison {
  readonly dtype?: DType;
  readonly shapes: 'equal' | 'different';
  readonly differentBits: number;
  readonly differentZeros: number;
}

const NOTHING: Sums = { ...NOTHING_COMPARED, shapes: 'equal', differentBits: 0, differentZeros: 0 };

function add(sums: Sums, left: Tensor | undefined, right: Tensor | undefined): Sums {
  if (left === undefined || right === undefined || left.dtype !== right.dtype || !sameShape(left.dims, right.dims))
    return { ...sums, shapes: 'different' };
  const [a, b] = [toNumbers(left), toNumbers(right)];
  const bits = countDifferentBits(a, b);
  return {
    dtype: left.dtype,
    ...addSample(sums, a, b),
    shapes: sums.shapes,
    differentBits: sums.differentBits + bits.different,
    differentZeros: sums.differentZeros + bits.zeros,
  };
}

/** Elements as doubles; int64 values beyond 2⁵³ are rounded. @throws RuntimeError `unsupported-dtype` for strings. */
export function toNumbers(tensor: Tensor): ArrayLike<number> {
  switch (tensor.dtype) {
    case 'float16':
      return decodeFloat16Array(tensor.data);
    case 'bfloat16':
      return decodeBfloat16Array(tensor.data);
    case 'int64':
    case 'uint64':
      return Float64Array.from(tensor.data, Number);
    case 'string':
      throw new RuntimeError('unsupported-dtype', 'string outputs cannot be compared');
    default:
      return tensor.data;
  }
}

function countDifferentBits(a: ArrayLike<number>, b: ArrayLike<number>): { different: number; zeros: number } {
  let different = 0;
  let zeros = 0;
  for (let i = 0; i < a.length; i++) {
    const x = a[i] as number;
    const y = b[i] as number;
    if (Object.is(x, y)) continue;
    different++;
    if (x === y) zeros++;
  }
  return { different, zeros };
}

function conclude({ dtype, comparison, moments, shapes, differentBits, differentZeros }: Sums): OutputComparison {
  return {
    ...(dtype === undefined ? {} : { dtype }),
    ...figuresOf(comparison),
    standardDeviation: standardDeviationOf(moments),
    magnitude: magnitudeOf(moments),
    shapes,
    differentBits,
    differentZeros,
  };
}

function magnitudeOf({ count, min, max }: Moments): number {
  const magnitude = count === 0 ? 0 : Math.max(Math.abs(min), Math.abs(max));
  return Number.isFinite(magnitude) ? magnitude : 0;
}
