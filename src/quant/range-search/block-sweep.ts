/** Runs the blocks of a quantized network over samples, on what the blocks before them compute, and compares their ends with the float network. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefined, invariant } from '../../base/invariant.js';
import { getValue } from '../../onnx/ir/edit.js';
import type { ValueId } from '../../onnx/ir/model.js';
import { openSweep, type Stretch } from '../../runtime/capture/sweep.js';
import type { NamedTensors } from '../../runtime/session/model-inputs.js';
import { decodeNpy, encodeNpy } from '../../tensor/formats/npy.js';
import type { Tensor } from '../../tensor/tensor.js';
import { QuantError } from '../integers/quant-error.js';
import type { SteppedModels } from '../sensitivity/find-steps.js';
import { orderByEnds } from './order-by-ends.js';
import type { SearchBlock } from './search-blocks.js';

export interface BlockSweepRequest {
  readonly models: SteppedModels;
  readonly blocks: readonly SearchBlock[];
  /** Inputs of each sample, by the names of each model. */
  readonly samples: {
    readonly float: readonly (() => Promise<NamedTensors>)[];
    readonly quantized: readonly (() => Promise<NamedTensors>)[];
  };
  /** An empty folder. */
  readonly folder: string;
}

export interface BlockSweep {
  /** Index of the next block. */
  next(): number;
  /** The constants of the quantized model that the next block, or one behind it, reads, by name. */
  readonly open: () => ReadonlySet<string>;
  /**
   * The error of the next block with the constants that the model has now; Infinity once it exceeds `enough`, or if it is not finite.
   * @throws QuantError `not-finite` for a float value; for a quantized one if any error is enough.
   */
  measure(enough: number): Promise<number>;
  /** Advances behind the next block, with the constants that the model has now. */
  advance(): Promise<void>;
  /** Does work on the next block. If it fails, the sessions that it left open are closed. */
  during<T>(work: () => Promise<T>): Promise<T>;
}

/** `models.quantized` may be edited between calls, but for its nodes. */
export async function openBlockSweep({ models, blocks, samples, folder }: BlockSweepRequest): Promise<BlockSweep> {
  const { float, quantized } = models;
  const seenOf = ({ ends }: SearchBlock): readonly ValueId[] => ends.map(({ seen }) => seen);
  const valuesOf = ({ ends }: SearchBlock): readonly ValueId[] => ends.map(({ value: { id } }) => id);
  const own = orderByEnds(quantized, blocks.map(seenOf));
  const other = orderByEnds(float, blocks.map(valuesOf));
  const folders = { float: join(folder, 'float'), quantized: join(folder, 'quantized'), ends: join(folder, 'ends') };
  for (const path of Object.values(folders)) await mkdir(path);
  const sweeps = {
    float: openSweep({ model: float, order: other.order, samples: samples.float, folder: folders.float }),
    quantized: openSweep({ model: quantized, order: own.order, samples: samples.quantized, folder: folders.quantized }),
  };
  let next = 0;
  let signals: readonly number[] | undefined;
  const fileOf = (sample: number, end: number): string => join(folders.ends, `${sample}-${end}.npy`);
  const block = (): SearchBlock => getDefined(blocks[next], 'next block');
  const openFloat = (): Stretch => sweeps.float.open(getDefined(other.counts[next], 'end'), valuesOf(block()));
  const openQuantized = (): Stretch => sweeps.quantized.open(getDefined(own.counts[next], 'end'), seenOf(block()));

  /** Runs the float block once per sample; its ends wait in files. Returns their sums of squares. */
  const keepEnds = async (): Promise<readonly number[]> => {
    const ends = valuesOf(block());
    const sums = ends.map(() => 0);
    const stretch = openFloat();
    for (const sample of samples.float.keys()) {
      const values = await stretch.run(sample);
      for (const [end, id] of ends.entries()) {
        const tensor = getDefined(values.get(id), 'end of a block');
        await writeFile(fileOf(sample, end), encodeNpy(tensor));
        sums[end] = (sums[end] ?? 0) + squaresOf(tensor, getValue(float.graph, id).name, 'float');
      }
    }
    await stretch.close('keep');
    return sums;
  };
  /** NaN or Infinity if a quantized value is not finite. */
  const errorOf = async (values: ReadonlyMap<ValueId, Tensor>, sample: number, sums: readonly number[]): Promise<number> => {
    let error = 0;
    for (const [end, id] of seenOf(block()).entries()) {
      const [tensor, signal] = [getDefined(values.get(id), 'end of a block'), sums[end] ?? 0];
      const expected = decodeNpy(await readFile(fileOf(sample, end)));
      if (tensor.dtype === 'float32' && expected.dtype === 'float32' && signal > 0)
        error += sumOfSquaredDifferences(expected.data, tensor.data) / signal;
    }
    return error;
  };
  return {
    next: () => next,
    during: work => sweeps.float.during(() => sweeps.quantized.during(work)),
    open: () => {
      const start = next === 0 ? 0 : getDefined(own.counts[next - 1], 'end');
      const ids = own.order.slice(start).flatMap(node => node.inputs.flatMap(id => id ?? []));
      return new Set(
        ids.flatMap(id => (quantized.graph.values.get(id)?.constant === undefined ? [] : [getValue(quantized.graph, id).name])),
      );
    },
    async measure(enough) {
      signals ??= await keepEnds();
      const stretch = openQuantized();
      let error = 0;
      for (const sample of samples.quantized.keys()) {
        const values = await stretch.run(sample);
        error += await errorOf(values, sample, signals);
        if (enough === Number.POSITIVE_INFINITY)
          for (const { seen, value } of block().ends) squaresOf(getDefined(values.get(seen), 'end of a block'), value.name, 'quantized');
        if (!(error <= enough)) break;
      }
      await stretch.close('repeat');
      return error <= enough ? error : Number.POSITIVE_INFINITY;
    },
    async advance() {
      // Without a search of the block, nothing is compared: only the float values behind it are needed.
      signals ??= await keepEnds();
      const stretch = openQuantized();
      for (const sample of samples.quantized.keys()) await stretch.run(sample);
      await stretch.close('keep');
      await rm(folders.ends, { recursive: true });
      await mkdir(folders.ends);
      signals = undefined;
      next++;
    },
  };
}

/** Of a float32 tensor; 0 for others. @throws QuantError `not-finite`. */
function squaresOf(tensor: Tensor, name: string, model: 'float' | 'quantized'): number {
  const sum = tensor.dtype === 'float32' ? sumOfSquares(tensor.data) : 0;
  if (Number.isFinite(sum)) return sum;
  throw new QuantError('not-finite', `value "${name}" has NaN or infinite elements in the ${model} model on the captured samples`, {
    help: 'look for a division by zero or an overflow before it',
  });
}

function sumOfSquares(values: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += (values[i] as number) ** 2;
  return sum;
}

function sumOfSquaredDifferences(a: Float32Array, b: Float32Array): number {
  invariant(a.length === b.length, 'ends of equal shape');
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += ((a[i] as number) - (b[i] as number)) ** 2;
  return sum;
}
