/** How far is every value of a model from the float original's on the same inputs? Both run side by side, piece by piece, and values meet in pairs. */
import type { Model, Value } from '../../onnx/ir/model.js';
import { type CaptureOptions, openCapture } from '../../runtime/capture/capture.js';
import { toNumbers } from '../../runtime/compare/compare-models.js';
import { runInLockstep } from '../../runtime/compare/lockstep.js';
import type { NamedTensors } from '../../runtime/session/model-inputs.js';
import {
  type Comparison,
  compareArrays,
  figuresOf,
  type Moments,
  mergeComparisons,
  mergeMoments,
  momentsOf,
  NO_COMPARISON,
  NO_MOMENTS,
  standardDeviationOf,
} from '../../tensor/compare.js';
import { sameShape } from '../../tensor/shape.js';
import { matchValues, type Seen } from './match-values.js';
import type { PartErrors, PropagatedError } from './propagated-error.js';

export interface ValueComparer {
  /** Runs both models once on `feeds`, by the input names of the original. @throws RuntimeError `missing-input`, `model-load`, `model-run`. */
  compare(feeds: NamedTensors): Promise<void>;
  /** Over all samples so far. */
  conclude(part: string): PartErrors;
  close(): Promise<void>;
}

interface Sums {
  readonly comparison: Comparison;
  readonly moments: Moments;
}

/**
 * Both models run with graph optimisation off: between DequantizeLinear and QuantizeLinear `other` computes in float, as every value must exist.
 * An input of `other` is fed what the original's input of the same name gets, or of the same place.
 */
export function openValueComparer(
  original: Model,
  other: Model,
  options: CaptureOptions & {
    /** 'floats' (the default): of float32 alone; of the values that are quantized, what comes out of DequantizeLinear. 'all': integers and booleans too. */
    readonly dtypes?: 'floats' | 'all';
    /** Default: 'dequantized'. */
    readonly seen?: Seen;
  },
): ValueComparer {
  const { pairs, unmatched } = matchValues(original, other, options.seen);
  const [left, right] = [openCapture(original, options), openCapture(other, options)];
  const keys = (side: 'original' | 'other') => new Map(pairs.map((pair, index) => [pair[side].id, String(index)]));
  const sums = new Map<string, Sums>();
  const differing = new Set<string>();
  let samples = 0;
  return {
    async compare(feeds) {
      const renamed = renameFeeds(feeds, original, other);
      await runInLockstep(
        { capture: left, feeds, keys: keys('original') },
        { capture: right, feeds: renamed, keys: keys('other') },
        (key, a, b) => {
          const isCompared =
            options.dtypes === 'all' ? a.dtype !== 'string' && b.dtype !== 'string' : a.dtype === 'float32' && b.dtype === 'float32';
          if (!isCompared) return;
          if (a.dtype !== b.dtype || !sameShape(a.dims, b.dims)) {
            differing.add(key);
            return;
          }
          const own = toNumbers(a);
          const { comparison, moments } = sums.get(key) ?? { comparison: NO_COMPARISON, moments: NO_MOMENTS };
          sums.set(key, {
            comparison: mergeComparisons(comparison, compareArrays(own, toNumbers(b))),
            moments: mergeMoments(moments, momentsOf(own)),
          });
        },
      );
      samples++;
    },
    conclude(part) {
      const values = pairs.flatMap((pair, index) => {
        const sum = differing.has(String(index)) ? undefined : sums.get(String(index));
        return sum === undefined ? [] : [describe(original, pair, sum)];
      });
      const differs = pairs.flatMap((pair, index) => (differing.has(String(index)) ? [pair.original.name] : []));
      return { part, samples, values, unmatched: [...unmatched.map(value => value.name), ...differs] };
    },
    async close() {
      await left.close();
      await right.close();
    },
  };
}

function describe(model: Model, { original, other }: { original: Value; other: Value }, { comparison, moments }: Sums): PropagatedError {
  const node = original.producer === undefined ? undefined : model.graph.nodes.get(original.producer);
  const deviation = standardDeviationOf(moments);
  return {
    value: original.name,
    comparedWith: other.name,
    node: node?.name ?? '',
    opType: node?.opType ?? '',
    // JSON has no NaN: a value that is not finite has no deviation, and `broken` says so.
    standardDeviation: Number.isFinite(deviation) ? deviation : 0,
    ...figuresOf(comparison),
  };
}

function renameFeeds(feeds: NamedTensors, original: Model, other: Model): NamedTensors {
  const names = ({ graph }: Model): string[] =>
    graph.inputs.flatMap(id => {
      const value = graph.values.get(id);
      return value === undefined || value.constant !== undefined ? [] : [value.name];
    });
  const [own, others] = [names(original), names(other)];
  const pairs = others.map((name, index) => [name, feeds[own.includes(name) ? name : (own[index] ?? '')]] as const);
  return Object.fromEntries(pairs.flatMap(([name, tensor]) => (tensor === undefined ? [] : [[name, tensor] as const])));
}
