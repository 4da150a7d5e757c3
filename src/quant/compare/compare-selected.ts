/** Compares what two models compute behind their selections, with the selection of the original in both. */
import { getDefined } from '../../base/invariant.js';
import { encodeModel } from '../../onnx/serde/encode-model.js';
import { listModelInputs, type NamedTensors } from '../../runtime/session/model-inputs.js';
import { openSession, type SessionOptions } from '../../runtime/session/session.js';
import { type Comparison, compareArrays, figuresOf, mergeComparisons, NO_COMPARISON } from '../../tensor/compare.js';
import { sameShape } from '../../tensor/shape.js';
import type { Tensor } from '../../tensor/tensor.js';
import { renameFeeds } from './compare-values.js';
import type { HeldSelections, Selection } from './held-selections.js';
import type { SelectedErrors } from './selected-errors.js';

export interface SelectedComparer {
  /** Runs both models once on `feeds`, given by the input names of the original. @throws RuntimeError `model-run`. */
  compare(feeds: NamedTensors): Promise<void>;
  /** Over all samples so far. */
  conclude(part: string): SelectedErrors;
  close(): Promise<void>;
}

/** @throws RuntimeError `model-load`; OnnxError if a model is too large for one buffer. */
export async function openSelectedComparer(held: HeldSelections, options: SessionOptions): Promise<SelectedComparer> {
  const { selections, outputs } = held;
  const inputs = new Set(held.inputs.values());
  const others = listModelInputs(held.candidate).filter(({ name }) => !inputs.has(name));
  const reference = await openSession(encodeModel(held.reference), options);
  const candidate = await openSession(encodeModel(held.candidate), options).catch(async error => {
    await reference.close();
    throw error;
  });
  const sums = new Map<string, Comparison>();
  const counts = selections.map(() => ({ selected: 0, common: 0 }));
  return {
    async compare(feeds) {
      const left = await reference.run(feeds);
      const positions = selections.map(({ value }) => [held.inputs.get(value) ?? value, getDefined(left[value], value)] as const);
      const renamed = renameFeeds(feeds, listModelInputs(held.reference), others);
      const right = await candidate.run({ ...renamed, ...Object.fromEntries(positions) });
      for (const [index, selection] of selections.entries()) {
        const count = getDefined(counts[index], selection.value);
        const [own, other] = [listSelected(selection, left), listSelected(selection, right)];
        count.selected += own.size;
        for (const one of own) if (other.has(one)) count.common++;
      }
      for (const name of outputs) {
        const [a, b] = [left[name], right[name]];
        if (a?.dtype !== 'float32' || b?.dtype !== 'float32' || !sameShape(a.dims, b.dims)) continue;
        sums.set(name, mergeComparisons(sums.get(name) ?? NO_COMPARISON, compareArrays(a.data, b.data)));
      }
    },
    conclude: part => ({
      part,
      selections: selections.map(({ value, node, opType }, index) => ({ value, node, opType, ...getDefined(counts[index], value) })),
      values: Object.fromEntries([...sums].map(([name, sum]) => [name, figuresOf(sum)])),
    }),
    async close() {
      await reference.close();
      await candidate.close();
    },
  };
}

/** One text per selected element: equal texts are one element, wherever in the result it stands. */
function listSelected({ value, opType, axis }: Selection, values: NamedTensors): ReadonlySet<string> {
  const positions = getDefined(values[value], value);
  if (opType === 'NonMaxSuppression') return rowsOf(positions);
  if (opType === 'NonZero') return columnsOf(positions);
  return lanesOf(positions, opType === 'TopK' ? axis : undefined);
}

/** [count, width]: one element per row. */
function rowsOf({ dims, data }: Tensor): ReadonlySet<string> {
  const [count = 0, width = 0] = dims;
  return new Set(Array.from({ length: count }, (_, row) => data.slice(row * width, (row + 1) * width).join()));
}

/** [width, count]: one element per column. */
function columnsOf({ dims, data }: Tensor): ReadonlySet<string> {
  const [width = 0, count = 0] = dims;
  return new Set(
    Array.from({ length: count }, (_, column) => Array.from({ length: width }, (_, row) => data[row * count + column]).join()),
  );
}

/** The elements that share all coordinates but that along `axis` are one lane, in which order does not count; without an axis, each is a lane. */
function lanesOf({ dims, data }: Tensor, axis: number | undefined): ReadonlySet<string> {
  const at = axis === undefined ? dims.length : axis < 0 ? axis + dims.length : axis;
  const inner = dims.slice(at + 1).reduce((product, size) => product * size, 1);
  const size = dims[at] ?? 1;
  return new Set(
    Array.from({ length: data.length }, (_, index) => `${Math.floor(index / (inner * size))}:${index % inner}:${data[index]}`),
  );
}
