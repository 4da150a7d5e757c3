/** Compares every value of a model with the float original on the same inputs. Both models run side by side, segment by segment. */
import type { Model, Value } from '../../onnx/ir/model.js';
import { type CaptureOptions, openCapture } from '../../runtime/capture/capture.js';
import { toNumbers } from '../../runtime/compare/compare-models.js';
import { runInLockstep } from '../../runtime/compare/lockstep.js';
import { describeInput, fitsInput, listModelInputs, type ModelInput, type NamedTensors } from '../../runtime/session/model-inputs.js';
import { figuresOf, standardDeviationOf } from '../../tensor/compare.js';
import { compareSample, mergeSample, NOTHING_COMPARED, type ReferenceComparison } from '../../tensor/reference-comparison.js';
import { formatShape, sameShape } from '../../tensor/shape.js';
import { matchValues, type Seen } from './match-values.js';
import type { PartErrors, PropagatedError } from './propagated-error.js';

export interface ValueComparer {
  /** Runs both models once on `feeds`, given by the input names of the original. @throws RuntimeError `missing-input`, `model-load`, `model-run`. */
  compare(feeds: NamedTensors): Promise<void>;
  /** The same without adding the sample: of the comparer of another thread, `add` takes it too. */
  compareAlone(feeds: NamedTensors): Promise<SampleErrors>;
  /** Adds a sample. The bits of the errors depend on the order of samples. */
  add(sample: SampleErrors): void;
  /** The errors over all samples so far. */
  conclude(part: string): PartErrors;
  close(): Promise<void>;
}

/** Errors of one sample, by index of the pair of values: plain data, which threads can send. */
export interface SampleErrors {
  readonly sums: ReadonlyMap<number, ReferenceComparison>;
  /** Pairs of which data types or shapes differ. */
  readonly differing: readonly number[];
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
  const keys = (side: 'original' | 'other') => new Map(pairs.map((pair, index) => [pair[side].id, String(index)]));
  const open = (model: Model, side: 'original' | 'other') => openCapture(model, { ...options, visited: new Set(keys(side).keys()) });
  const [left, right] = [open(original, 'original'), open(other, 'other')];
  const sums = new Map<number, ReferenceComparison>();
  const differing = new Set<number>();
  let samples = 0;
  const compareAlone = async (feeds: NamedTensors): Promise<SampleErrors> => {
    const renamed = renameFeeds(feeds, listModelInputs(original), listModelInputs(other));
    const sample = { sums: new Map<number, ReferenceComparison>(), differing: [] as number[] };
    await runInLockstep(
      { capture: left, feeds, keys: keys('original') },
      { capture: right, feeds: renamed, keys: keys('other') },
      (key, a, b) => {
        const isCompared =
          options.dtypes === 'all' ? a.dtype !== 'string' && b.dtype !== 'string' : a.dtype === 'float32' && b.dtype === 'float32';
        if (!isCompared) return;
        if (a.dtype !== b.dtype || !sameShape(a.dims, b.dims)) sample.differing.push(Number(key));
        else sample.sums.set(Number(key), compareSample(toNumbers(a), toNumbers(b)));
      },
    );
    return sample;
  };
  const add = (sample: SampleErrors): void => {
    for (const [index, sum] of sample.sums) sums.set(index, mergeSample(sums.get(index) ?? NOTHING_COMPARED, sum));
    for (const index of sample.differing) differing.add(index);
    samples++;
  };
  return {
    compare: async feeds => add(await compareAlone(feeds)),
    compareAlone,
    add,
    conclude(part) {
      const values = pairs.flatMap((pair, index) => {
        const sum = differing.has(index) ? undefined : sums.get(index);
        return sum === undefined ? [] : [describe(original, pair, sum)];
      });
      const differs = pairs.flatMap((pair, index) => (differing.has(index) ? [pair.original.name] : []));
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
