/** Compares what two models compute behind their selections, with the selection of the original in both. */
import { getDefined } from '../../base/invariant.js';
import { encodeModel } from '../../onnx/serde/encode-model.js';
import { listModelInputs, type NamedTensors } from '../../runtime/session/model-inputs.js';
import { openSession, type SessionOptions } from '../../runtime/session/session.js';
import { type Comparison, compareArrays, figuresOf, mergeComparisons, NO_COMPARISON } from '../../tensor/compare.js';
import { sameShape } from '../../tensor/shape.js';
import type { Tensor } from '../../tensor/tensor.js';
import { renameFeeds } from './compare-values.js';
import { countSelected } from './count-selected.js';
import type { HeldSelections } from './held-selections.js';
import type { SelectedErrors } from './selected-errors.js';

type Floats = Readonly<Record<string, Tensor<'float32'>>>;

export interface SelectedOptions extends SessionOptions {
  /** The outputs that are compared, as numbers. Default: those of float32. */
  readonly toFloats?: (outputs: NamedTensors) => Floats;
  /** Further tensors to compare, by names of their own, that outputs hold. Default: none. */
  readonly splitOutputs?: (outputs: Floats) => Floats;
}

export interface SelectedComparer {
  /** Runs both models once on `feeds`, given by the input names of the original. @throws RuntimeError `model-run`. */
  compare(feeds: NamedTensors): Promise<void>;
  /** Over all samples so far. Of the outputs, those that were compared on each of `samples` samples; of followers, those among `differing`. */
  conclude(part: string, samples: number, differing: Pick<ReadonlySet<string>, 'has'>): SelectedErrors;
  close(): Promise<void>;
}

/** @throws RuntimeError `model-load`; OnnxError `model-too-large`. */
export async function openSelectedComparer(
  held: HeldSelections,
  { toFloats = onlyFloats, splitOutputs = () => ({}), ...options }: SelectedOptions,
): Promise<SelectedComparer> {
  const { selections, outputs, followers } = held;
  const inputs = new Set(held.inputs.values());
  const takes = listModelInputs(held.candidate).filter(({ name }) => !inputs.has(name));
  const reference = await openSession(encodeModel(held.reference), options);
  const candidate = await openSession(encodeModel(held.candidate), options).catch(async error => {
    await reference.close();
    throw error;
  });
  const sums = new Map<string, { readonly comparison: Comparison; readonly samples: number }>();
  const follows = new Set<string>();
  const counts = selections.map(() => ({ selected: 0, common: 0 }));
  return {
    async compare(feeds) {
      const left = await reference.run(feeds);
      const positions = selections.map(({ value }) => [held.inputs.get(value) ?? value, getDefined(left[value], value)] as const);
      const renamed = renameFeeds(feeds, listModelInputs(held.reference), takes);
      const right = await candidate.run({ ...renamed, ...Object.fromEntries(positions) });
      for (const [index, selection] of selections.entries()) {
        const count = getDefined(counts[index], selection.value);
        const { selected, common } = countSelected(selection, left, right);
        count.selected += selected;
        count.common += common;
      }
      const read = (values: NamedTensors, names: readonly string[]): Floats => {
        const floats = toFloats(Object.fromEntries(names.map(name => [name, getDefined(values[name], name)])));
        return { ...floats, ...splitOutputs(floats) };
      };
      const following = read(left, followers);
      for (const name of Object.keys(following)) follows.add(name);
      const compared = { ...read(left, outputs), ...following };
      const others = { ...read(right, outputs), ...read(right, followers) };
      for (const [name, a] of Object.entries(compared)) {
        const b = others[name];
        if (b === undefined || !sameShape(a.dims, b.dims)) continue;
        const { comparison, samples } = sums.get(name) ?? { comparison: NO_COMPARISON, samples: 0 };
        sums.set(name, { comparison: mergeComparisons(comparison, compareArrays(a.data, b.data)), samples: samples + 1 });
      }
    },
    conclude: (part, samples, differing) => ({
      part,
      selections: selections.map(({ value, node, opType, outputs: behind }, index) => ({
        value,
        node,
        opType,
        ...getDefined(counts[index], value),
        outputs: [...behind],
      })),
      values: Object.fromEntries(
        [...sums].flatMap(([name, sum]) =>
          sum.samples === samples && (!follows.has(name) || differing.has(name)) ? [[name, figuresOf(sum.comparison)] as const] : [],
        ),
      ),
    }),
    async close() {
      await reference.close();
      await candidate.close();
    },
  };
}

function onlyFloats(values: NamedTensors): Floats {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, tensor]) => (tensor.dtype === 'float32' ? [[name, tensor] as const] : [])),
  );
}
