/** The registry of range methods that choose the ends of a range: for each its text, and its choice from calibration data. */
import type { Range } from '../integers/qparams.js';
import { QuantError } from '../integers/quant-error.js';
import type { IntegerScheme } from '../integers/quantized-dtype.js';
import type { OrtObserved, OrtRangeMethod } from '../ort-compat/ort-method.js';
import { ortEntropy, ortMovingAverage, ortPercentile } from '../ort-compat/ort-range.js';
import { distributionOf } from '../sketch/distribution.js';
import type { Sketch } from '../sketch/sketch.js';
import { clipRange } from './clip-range.js';
import { leastDivergenceRange } from './entropy-range.js';
import { leastErrorRange } from './mse-range.js';
import { percentileOfEachSide, percentileOfMagnitudes } from './percentile-range.js';
import type { FloatRangeMethod, Observation } from './range-method.js';

type EndsMethod = FloatRangeMethod | OrtRangeMethod;
type Kind = EndsMethod['kind'];
type MethodOf<K extends Kind> = Extract<EndsMethod, { readonly kind: K }>;
type Seen = Observation & { readonly kind: 'seen' };

interface RangeMethodEntry<Method> {
  /** A short text for reports and messages: 'percentile 99.99'. */
  describe(method: Method): string;
  /** The range for a value. Its sketch has at least one finite element. @throws QuantError `no-ort-histogram`. */
  choose(seen: Seen, method: Method, integers: IntegerScheme): Range;
}

const RANGE_METHODS: { readonly [K in Kind]: RangeMethodEntry<MethodOf<K>> } = {
  'min-max': {
    describe: ({ kind }) => kind,
    choose: seenRange,
  },
  clip: {
    describe: ({ share }) => `clip ${share}`,
    choose: (seen, { share }) => clipRange(seenRange(seen), share),
  },
  percentile: {
    describe: ({ percentile, sides }) => `percentile ${percentile}${sides === 'each' ? ' of each side' : ''}`,
    choose: ({ sketch }, { percentile, sides }) =>
      (sides === 'each' ? percentileOfEachSide : percentileOfMagnitudes)(distributionOf(sketch), percentile),
  },
  entropy: {
    describe: ({ levels }) => (levels === 'integers' ? 'entropy' : `entropy of ${levels} levels`),
    choose: ({ sketch }, { levels }, integers) => leastDivergenceRange(distributionOf(sketch), levels, integers),
  },
  mse: {
    describe: ({ candidates }) => `mse of ${candidates} candidates`,
    choose: ({ sketch }, { candidates }, integers) => leastErrorRange(distributionOf(sketch), candidates, integers),
  },
  'ort-moving-average': {
    describe: ({ kind }) => kind,
    choose: seen => ortMovingAverage(withOrt(seen)),
  },
  'ort-percentile': {
    describe: ({ percentile, of, bins }) => `ort-percentile ${percentile} of ${of} in ${bins} bins`,
    choose: (seen, method) => ortPercentile(withOrt(seen), method),
  },
  'ort-entropy': {
    describe: ({ quantizedBins, bins }) => `ort-entropy of ${quantizedBins} levels in ${bins} bins`,
    choose: (seen, method) => ortEntropy(withOrt(seen), method),
  },
};

function entryOf<K extends Kind>(kind: K): RangeMethodEntry<MethodOf<K>> {
  return RANGE_METHODS[kind];
}

export function describeEnds<K extends Kind>(method: MethodOf<K> & { readonly kind: K }): string {
  return entryOf<K>(method.kind).describe(method);
}

/** @throws QuantError `no-elements` if calibration saw no finite element; `no-ort-histogram`. */
export function chooseEnds<K extends Kind>(seen: Seen, method: MethodOf<K> & { readonly kind: K }, integers: IntegerScheme): Range {
  seenRange(seen);
  return entryOf<K>(method.kind).choose(seen, method, integers);
}

/** From the smallest to the largest element. */
export function seenRange({ name, sketch: { min, max, count } }: { readonly name: string; readonly sketch: Sketch }): Range {
  if (min === undefined || max === undefined) {
    throw new QuantError('no-elements', `value "${name}": calibration saw no finite element among ${count}`, {
      help: 'calibrate with samples for which the model computes this value',
    });
  }
  return { low: min, high: max };
}

function withOrt(seen: Seen): Seen & { readonly ort: OrtObserved } {
  const { ort, name } = seen;
  if (ort !== undefined) return { ...seen, ort };
  throw new QuantError(
    'no-ort-histogram',
    `value "${name}": the method needs calibration data of onnxruntime.quantization, which was not collected`,
    {
      help: 'set compat: ort on the calibrate stage',
    },
  );
}
