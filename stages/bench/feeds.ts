/** Inputs of timed parts: captured tensors if connected, else seeded random ones, with the requested number of rows. */
import type { Model } from '../../src/onnx/ir/model.js';
import { rowCounts } from '../../src/runtime/capture/capture-index.js';
import type { Captured } from '../../src/runtime/capture/captured.js';
import { makeRandomFeeds } from '../../src/runtime/feeds/random-feeds.js';
import { formatDims, listModelInputs, type ModelInput, type NamedTensors, pickFeeds } from '../../src/runtime/session/model-inputs.js';
import { StageError } from '../../src/stage/stage-error.js';
import { sliceRows, takeRows } from '../../src/tensor/rows.js';
import type { BenchParams } from './params.js';
import { chooseCounts, type RowCount } from './row-counts.js';

export interface PartFeeds {
  readonly from: 'captured' | 'random';
  /** Row counts to time; undefined if the model fixes its batch and the rows per image are unknown. */
  readonly counts: readonly RowCount[] | undefined;
  /** Number of rows that the model takes per call, as its batch or as tiles of a canvas. */
  readonly batch: 'free' | number;
  readonly by: 'batch' | 'tiles';
  /** Images without a row for the part. */
  readonly imagesWithout: number;
  /** All rows; for a fixed batch, as many as the model takes. */
  readonly whole: NamedTensors;
  /** An image with the given number of rows; rows are repeated if there are fewer. */
  image(rows: number): ImageRows;
}

export interface ImageRows {
  readonly rows: number;
  /** Rows `start` … `start + count`, zeros beyond the image's rows; inputs without rows unchanged. On tiles: the canvas that begins with row `start`. */
  slice(start: number, count: number): NamedTensors;
}

export interface FeedRequest {
  readonly part: string;
  readonly model: Model;
  readonly captured: Captured | undefined;
  readonly params: Pick<BenchParams, 'rois' | 'counts'>;
  readonly random: () => number;
}

/** Number of random rows; more are made by repeating them. */
const MOST_ROWS = 256;

/** @throws StageError `no-row-counts`, `free-size`; RuntimeError `random-input`, `capture-part`, `capture-mismatch`, `sample-mismatch`. */
export async function openFeeds({ part, model, captured, params, random }: FeedRequest): Promise<PartFeeds> {
  const inputs = listModelInputs(model);
  const free = inputs.filter(hasFreeBatch).map(({ name }) => name);
  const counted = captured === undefined ? [] : inputs.filter(({ name }) => hasRows(captured, part, name));
  const fixed = free.length === 0 ? counted.flatMap(({ dims }) => (typeof dims?.[0] === 'number' ? [dims[0]] : [])) : [];
  const withRows = new Set(free.length === 0 ? counted.map(({ name }) => name) : free);
  const seen = captured !== undefined && hasPart(captured, part) ? rowCounts(captured.index, part).seen : [];
  const counts = withRows.size === 0 ? undefined : (params.rois?.map(rows => ({ rows, images: 1 })) ?? chooseCounts(seen, params.counts));
  if (counts?.length === 0) {
    throw new StageError('no-row-counts', `part "${part}" has a free batch, and the number of rows per image is unknown`, {
      help: 'set `rois`, for example [8, 32, 100], or connect `captured` with images that have detections',
    });
  }
  const sample =
    captured !== undefined && hasPart(captured, part)
      ? await readSample(
          captured,
          part,
          inputs.map(input => (withRows.has(input.name) ? withAnyRows(input) : input)),
        )
      : undefined;
  const most = Math.min(MOST_ROWS, Math.max(1, ...(counts ?? []).map(({ rows }) => rows)));
  const whole = sample ?? makeFeeds(part, model, { random, rows: most });
  return {
    from: sample === undefined ? 'random' : 'captured',
    counts,
    batch: fixed[0] ?? 'free',
    by: 'batch',
    imagesWithout: seen.filter(rows => rows === 0).length,
    whole,
    image: rows => {
      const all = mapRows(whole, withRows, tensor => takeRows(tensor, rows));
      return { rows, slice: (start, count) => mapRows(all, withRows, tensor => sliceRows(tensor, start, count)) };
    },
  };
}

function mapRows(tensors: NamedTensors, names: ReadonlySet<string>, change: (tensor: NamedTensors[string]) => NamedTensors[string]) {
  return Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => [name, names.has(name) ? change(tensor) : tensor]));
}

function hasFreeBatch({ dims }: ModelInput): boolean {
  return dims !== undefined && dims.length > 0 && typeof dims[0] !== 'number';
}

/** Whether the input was captured with each image's row count, independent of the model's batch. */
function hasRows({ index }: Captured, part: string, input: string): boolean {
  const values = index.parts.find(({ name }) => name === part)?.values ?? [];
  return values.some(({ role, name, dims }) => role === 'input' && name === input && dims[0] === 'rows');
}

function withAnyRows(input: ModelInput): ModelInput {
  return { ...input, dims: input.dims?.with(0, 'rows') };
}

function hasPart({ index }: Captured, part: string): boolean {
  return index.parts.some(({ name }) => name === part);
}

/** The inputs of the captured sample with the most rows; undefined if no sample has rows. */
async function readSample(captured: Captured, part: string, inputs: readonly ModelInput[]): Promise<NamedTensors | undefined> {
  const rowsOf = (sample: (typeof captured.index.samples)[number]): number => sample.parts[part]?.rows ?? 0;
  const [most] = captured.index.samples.filter(sample => rowsOf(sample) > 0).sort((a, b) => rowsOf(b) - rowsOf(a));
  if (most === undefined) return undefined;
  return pickFeeds(inputs, await captured.read(most, part, 'input'), `captured sample "${most.id}", part "${part}"`);
}

function makeFeeds(part: string, model: Model, { random, rows }: { readonly random: () => number; readonly rows: number }): NamedTensors {
  for (const { name, dims } of listModelInputs(model)) {
    if (dims?.slice(1).every(dim => typeof dim === 'number') !== false) continue;
    throw new StageError('free-size', `part "${part}": input "${name}" ${formatDims(dims)} has free sizes other than the first`, {
      help: 'pin the sizes with `import` or `export`, or connect `captured`, whose tensors have sizes',
    });
  }
  return makeRandomFeeds(model, { random, sizes: {}, freeSize: rows });
}
