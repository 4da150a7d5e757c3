/** Compares every value of a model with the float original on the same inputs. Both models run side by side, segment by segment. */
import type { Model, Value } from '../../onnx/ir/model.js';
import { type CaptureOptions, openCapture } from '../../runtime/capture/capture.js';
import { toNumbers } from '../../runtime/compare/compare-models.js';
import { runInLockstep } from '../../runtime/compare/lockstep.js';
import { describeInput, fitsInput, listModelInputs, type ModelInput, type NamedTensors } from '../../runtime/session/model-inputs.js';
import { figuresOf, standardDeviationOf } from '../../tensor/compare.js';
import { addSample, NOTHING_COMPARED, type ReferenceComparison } from '../../tensor/reference-comparison.js';
import { formatShape, sameShape } from '../../tensor/shape.js';
import { matchValues, type Seen } from './match-values.js';
import type { PartErrors, PropagatedError } from './propagated-error.js';

export interface ValueComparer {
  /** Runs both models once on `feeds`, given by the input names of the original. @throws RuntimeError `missing-input`, `model-load`, `model-run`. */
  compare(feeds: NamedTensors): Promise<void>;
  /** The errors over all samples so far. */
  conclude(part: string): PartErrors;
  close(): Promise<void>;
}

/**
 * Both models run with graph optimization off, so that every value exists: between DequantizeLinear and QuantizeLinear `other` computes in float.
 * An input of `other` gets the tensor of the original's input with the same name, or else of the one at the same position.
 */
export function openValueComparer(
  original: Model,
  other: Model,
  options: CaptureOptions & {
    /** 'floats' (default): only float32 values; for quantized values, the output of DequantizeLinear. 'all': integer and boolean values too. */
    readonly dtypes?: 'floats' | 'all';
    /** Default: 'dequantized'. */
    readonly seen?: Seen;
  },
): ValueComparer {
  const { pairs, unmatched } = matchValues(original, other, options.seen);
  const [left, right] = [openCapture(original, options), openCapture(other, options)];
  const keys = (side: 'original' | 'other') => new Map(pairs.map((pair, index) => [pair[side].id, String(index)]));
  const sums = new Map<string, ReferenceComparison>();
  const differing = new Set<string>();
  let samples = 0;
  return {
    async compare(feeds) {
      const renamed = renameFeeds(feeds, listModelInputs(original), listModelInputs(other));
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
          sums.set(key, addSample(sums.get(key) ?? NOTHING_COMPARED, toNumbers(a), toNumbers(b)));
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

function describe(
  model: Model,
  { original, other }: { original: Value; other: Value },
  { comparison, moments }: ReferenceComparison,
): PropagatedError {
  const node = original.producer === undefined ? undefined : model.graph.nodes.get(original.producer);
  const deviation = standardDeviationOf(moments);
  return {
    value: original.name,
    comparedWith: other.name,
    node: node?.name ?? '',
    opType: node?.opType ?? '',
    // JSON has no NaN: a value with elements that are not finite has no deviation, and `broken` counts them.
    standardDeviation: Number.isFinite(deviation) ? deviation : 0,
    ...figuresOf(comparison),
  };
}

/** Why the other model cannot run on these inputs of the original, one line per input; empty if it can. */
export function listInputMismatches(feeds: NamedTensors, original: Model, other: Model): readonly string[] {
  const own = listModelInputs(original).map(({ name }) => name);
  const others = listModelInputs(other);
  const renamed = renameFeeds(feeds, listModelInputs(original), others);
  const missing = own.slice(others.length).filter(name => !others.some(input => input.name === name));
  return [
    ...others.flatMap(input => {
      const tensor = renamed[input.name];
      if (tensor === undefined) return [`only the second model has the input "${input.name}"`];
      if (fitsInput(input, tensor)) return [];
      return [
        `input "${input.name}": ${tensor.dtype} ${formatShape(tensor.dims)} was given, the second model takes ${describeInput(input)}`,
      ];
    }),
    ...missing.map(name => `only the first model has the input "${name}"`),
  ];
}

/** The feeds of a model with the inputs `inputs`, by the names of those of `others`: equal names, or else equal places. */
export function renameFeeds(feeds: NamedTensors, inputs: readonly ModelInput[], others: readonly ModelInput[]): NamedTensors {
  const own = inputs.map(({ name }) => name);
  const pairs = others.map(({ name }, index) => [name, feeds[own.includes(name) ? name : (own[index] ?? '')]] as const);
  return Object.fromEntries(pairs.flatMap(([name, tensor]) => (tensor === undefined ? [] : [[name, tensor] as const])));
}
