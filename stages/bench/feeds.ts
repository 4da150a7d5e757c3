/** What is a part fed? Captured tensors where they are connected, else seeded random ones; a head's rows as many as asked for. */
import type { Model } from '../../src/onnx/ir/model.js';
import { rowCounts } from '../../src/runtime/capture-index.js';
import type { Captured } from '../../src/runtime/captured.js';
import type { NamedTensors } from '../../src/runtime/model-inputs.js';
import { makeRandomFeeds } from '../../src/runtime/random-feeds.js';
import { StageError } from '../../src/stage/stage-error.js';
import { takeRows } from '../../src/tensor/rows.js';
import type { BenchParams } from './params.js';
import { chooseCounts, type RowCount } from './row-counts.js';

export interface PartFeeds {
  readonly from: 'captured' | 'random';
  /** Row counts to time; undefined where the model fixes its batch. */
  readonly counts: readonly RowCount[] | undefined;
  /** Images that gave the part no rows. */
  readonly imagesWithout: number;
  /** The part's inputs, with so many rows; without `rows`, as the model fixes them. */
  feeds(rows?: number): NamedTensors;
}

interface FeedRequest {
  readonly part: string;
  readonly model: Model;
  readonly captured: Captured | undefined;
  readonly params: Pick<BenchParams, 'rois' | 'counts'>;
  readonly random: () => number;
}

/** Rows that are kept to be fed; more are made by repeating them. */
const MOST_ROWS = 1024;

/** @throws StageError `no-row-counts`; RuntimeError `random-input`, `capture-part`, `capture-mismatch`. */
export async function openFeeds({ part, model, captured, params, random }: FeedRequest): Promise<PartFeeds> {
  const isCaptured = captured?.index.parts.some(({ name }) => name === part) === true;
  const seen = isCaptured && captured !== undefined ? rowCounts(captured.index, part).seen : [];
  const counts = hasFreeBatch(model) ? (params.rois?.map(rows => ({ rows, images: 1 })) ?? chooseCounts(seen, params.counts)) : undefined;
  if (counts?.length === 0) {
    throw new StageError('no-row-counts', `part "${part}" has a free batch, and nothing says how many rows an image has`, {
      help: 'set `rois`, such as [8, 32, 100], or connect `captured` with images in which the detector finds something',
    });
  }
  const pool = isCaptured && captured !== undefined ? await readPool(captured, part) : undefined;
  const base =
    pool ??
    makeRandomFeeds(model, { random, sizes: {}, freeSize: Math.min(MOST_ROWS, Math.max(1, ...(counts ?? []).map(({ rows }) => rows))) });
  return {
    from: pool === undefined ? 'random' : 'captured',
    counts,
    imagesWithout: seen.filter(rows => rows === 0).length,
    feeds: rows =>
      rows === undefined ? base : Object.fromEntries(Object.entries(base).map(([name, tensor]) => [name, takeRows(tensor, rows)])),
  };
}

export function hasFreeBatch({ graph }: Model): boolean {
  return graph.inputs.some(id => {
    const value = graph.values.get(id);
    return (
      value?.constant === undefined &&
      value?.type?.kind === 'tensor' &&
      value.type.dims !== undefined &&
      value.type.dims.length > 0 &&
      typeof value.type.dims[0] !== 'number'
    );
  });
}

/** The inputs of the captured sample with the most rows; undefined where none has any. */
async function readPool(captured: Captured, part: string): Promise<NamedTensors | undefined> {
  const [most] = captured.index.samples
    .filter(sample => (sample.parts[part]?.rows ?? 0) > 0)
    .sort((a, b) => (b.parts[part]?.rows ?? 0) - (a.parts[part]?.rows ?? 0));
  return most === undefined ? undefined : captured.read(most, part, 'input');
}
