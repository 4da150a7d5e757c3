/** Inputs of timed models on tiles: canvases with the RoIs of an image, as the recipe says. */
import { getDefined, invariant } from '../../src/base/invariant.js';
import { fillMask, packTiles } from '../../src/detection/tiles/pack-tiles.js';
import type { TileStep, TilesByPart } from '../../src/detection/tiles/part-tiles.js';
import type { CanvasValue } from '../../src/onnx/tiles/canvas.js';
import { rowCounts } from '../../src/runtime/capture/capture-index.js';
import type { Captured } from '../../src/runtime/capture/captured.js';
import { RuntimeError } from '../../src/runtime/session/runtime-error.js';
import { StageError } from '../../src/stage/stage-error.js';
import { takeRows } from '../../src/tensor/rows.js';
import { makeTensor, type Tensor } from '../../src/tensor/tensor.js';
import type { ImageRows, PartFeeds } from './feeds.js';
import type { BenchParams } from './params.js';
import { chooseCounts } from './row-counts.js';

export interface StepOfPart {
  readonly part: string;
  readonly step: TileStep;
}

/** The step that runs `model`; undefined if the model is not on tiles. */
export function findStep(tiles: TilesByPart, model: string): StepOfPart | undefined {
  for (const [part, { steps }] of Object.entries(tiles)) {
    const step = steps.find(one => one.model === model);
    if (step !== undefined) return { part, step };
  }
  return undefined;
}

interface TiledRequest extends StepOfPart {
  readonly captured: Captured | undefined;
  readonly params: Pick<BenchParams, 'rois' | 'counts'>;
  readonly random: () => number;
}

type Rows = ReadonlyMap<string, Tensor<'float32'>>;

/**
 * Captured rows where every input of the step was captured, else uniform random ones: the second model of a head that is cut reads no captured value.
 * @throws StageError `no-row-counts`; RuntimeError `bad-capture`, `capture-mismatch`.
 */
export async function openTiledFeeds({ part, step, captured, params, random }: TiledRequest): Promise<PartFeeds> {
  const own = captured?.index.parts.some(({ name }) => name === part) === true ? captured : undefined;
  const seen = own === undefined ? [] : rowCounts(own.index, part).seen;
  const counts = params.rois?.map(rows => ({ rows, images: 1 })) ?? chooseCounts(seen, params.counts);
  if (counts.length === 0) {
    throw new StageError('no-row-counts', `the number of RoIs per image of part "${part}" is unknown`, {
      help: 'set `rois`, for example [8, 32, 100], or connect `captured` with images that have detections',
    });
  }
  const tiles = step.grid[0] * step.grid[1];
  const sample = own === undefined ? undefined : await readRows(own, part, step);
  const known = sample ?? makeRows(step, Math.max(...counts.map(({ rows }) => rows)), random);
  const image = (rows: number): ImageRows => packerOf(step, known, rows);
  return {
    from: sample === undefined ? 'random' : 'captured',
    counts,
    batch: tiles,
    by: 'tiles',
    imagesWithout: seen.filter(rows => rows === 0).length,
    whole: image(tiles).slice(0, tiles),
    image,
  };
}

/** Rows are repeated if there are fewer than `rows`. */
function packerOf({ grid, inputs, masks = [] }: TileStep, known: Rows, rows: number): ImageRows {
  const all = inputs.map(canvas => [canvas, toFloats(takeRows(getDefined(known.get(canvas.name), canvas.name), rows))] as const);
  const filled = Object.fromEntries(masks.map(mask => [mask.name, fillMask(mask, grid)]));
  return {
    rows,
    slice: start => ({
      ...Object.fromEntries(all.map(([canvas, tensor]) => [canvas.name, packTiles(tensor, start, canvas, grid)])),
      ...filled,
    }),
  };
}

/** The captured inputs of the sample with the most RoIs; undefined if one of the step's inputs was not captured. */
async function readRows(captured: Captured, part: string, { inputs }: TileStep): Promise<Rows | undefined> {
  const rowsOf = (sample: (typeof captured.index.samples)[number]): number => sample.parts[part]?.rows ?? 0;
  const [most] = [...captured.index.samples].sort((a, b) => rowsOf(b) - rowsOf(a));
  if (most === undefined || rowsOf(most) === 0) return undefined;
  const found = await captured.read(most, part, 'input');
  if (inputs.some(({ name }) => found[name] === undefined)) return undefined;
  return new Map(inputs.map(canvas => [canvas.name, fitRows(getDefined(found[canvas.name], canvas.name), canvas, part)]));
}

function makeRows({ inputs }: TileStep, count: number, random: () => number): Rows {
  return new Map(
    inputs.map(({ name, channels, tile }) => {
      const dims = [count, channels, ...tile];
      return [
        name,
        makeTensor(
          'float32',
          dims,
          Float32Array.from({ length: dims.reduce((product, dim) => product * dim, 1) }, () => random()),
        ),
      ];
    }),
  );
}

/** Captured rows of the tile's size. */
function fitRows(tensor: Tensor, { name, channels, tile }: CanvasValue, part: string): Tensor<'float32'> {
  const size = tensor.dims.slice(1).reduce((product, dim) => product * dim, 1);
  const expected = channels * tile[0] * tile[1];
  if (tensor.dtype === 'float32' && size === expected) return tensor;
  throw new RuntimeError(
    'capture-mismatch',
    `part "${part}": the captured "${name}" is ${tensor.dtype} with ${size} elements per RoI, a tile takes ${expected} of float32`,
    {
      help: 'connect the captured tensors and the recipe of the same detector',
    },
  );
}

function toFloats(tensor: Tensor): Tensor<'float32'> {
  invariant(tensor.dtype === 'float32', `rows of a canvas are float32, not ${tensor.dtype}`);
  return tensor;
}
