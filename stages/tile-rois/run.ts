/** Runs `tile-rois`: chooses grid and form of every head, and writes the heads on tiles with a recipe of how the host packs RoIs. */
import { isJsonObject, type Json, type JsonObject } from '../../src/base/json.js';
import { readDefinition } from '../../src/detection/read-definition.js';
import type { PartTiles, TileStep } from '../../src/detection/tiles/part-tiles.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { readModel, writeModel } from '../../src/onnx/serde/model-file.js';
import { type CutHead, cutAtFlatten } from '../../src/onnx/tiles/cut-at-flatten.js';
import type { Pair } from '../../src/onnx/tiles/tile-facts.js';
import { rowCounts } from '../../src/runtime/capture/capture-index.js';
import { openCaptured } from '../../src/runtime/capture/captured.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile, writeMetricsFile } from '../../src/stage/json-file.js';
import { getInputRecord, getOutputPath, readInput } from '../../src/stage/paths.js';
import { StageError } from '../../src/stage/stage-error.js';
import { modeOf } from '../../src/target/legality/judge-units.js';
import type { Target } from '../../src/target/profile/choose-target.js';
import { openTarget } from '../../src/target/profile/open-target.js';
import { checkHeadModel, getHead } from './check-heads.js';
import { type ChosenTiles, chooseTiles, listGrids, type StrideForm } from './choose-tiles.js';
import { type HeadParams, nameOfRows, nameOfTiles, type TileRoisParams } from './params.js';

type TileRoisJob = StageJob<TileRoisParams>;

/** @throws StageError `no-row-counts`, `tiles-cut`, `part-unknown`, `tiles-refused`; OnnxError `tiles-refused`, `tiles-input`; DetectionError `bad-recipe`, `part-values`; TargetError as `openTarget`. */
export async function runTileRois(job: TileRoisJob): Promise<void> {
  const { params, inputs, outputs, context } = job;
  const recipe = await readInput(inputs, 'recipe', readJsonFile);
  const definition = readDefinition({ recipe });
  for (const head of Object.keys(params.heads)) getHead(definition, head);
  const target = openTarget(params, inputs.profile === undefined ? undefined : await readInput(inputs, 'profile', readJsonFile));
  const counts = await readCounts(job);
  const heads: TiledHead[] = [];
  for (const [head, path] of Object.entries(getInputRecord(inputs, 'models'))) {
    context.signal.throwIfAborted();
    const own = params.heads[head];
    if (own === undefined) continue;
    const model = await readModel(path);
    checkHeadModel(getHead(definition, head), model);
    if (modeOf(model) === 'float')
      context.log('warning', `${head} is not quantized: put the quantized head on tiles, or its ranges include the gaps between them`);
    const tiled = await tileHead(job, { head, own, model, target, counts: counts(head, own) });
    for (const { model, tiles } of tiled.steps) await writeModel(getOutputPath(outputs, model), tiles.tiled.model);
    for (const { model, tiles } of tiled.steps) context.log('info', describe(model, tiles));
    if (tiled.cutMs !== undefined && tiled.cutMs < sumMs(tiled.steps))
      context.log('info', `${head}: \`form: cut\` is estimated faster, ${tiled.cutMs.toFixed(1)} ms per image; it makes two models`);
    heads.push(tiled);
    context.progress(heads.length, Object.keys(params.heads).length, 'heads');
  }
  // Heads that an earlier stage put on tiles stay there.
  const tiles = { ...definition.tiles, ...Object.fromEntries(heads.map(({ head, steps }) => [head, partTiles(steps)])) };
  const written: JsonObject = { ...(isJsonObject(recipe) ? recipe : {}), tiles };
  // The recipe has to fit its own heads.
  readDefinition({ recipe: written });
  await writeJsonFile(getOutputPath(outputs, 'recipe'), written);
  await writeJsonFile(getOutputPath(outputs, 'report'), reportOf(params, target, heads));
  await writeMetricsFile(getOutputPath(outputs, 'metrics'), Object.fromEntries(heads.map(({ head, steps }) => [head, metricsOf(steps)])));
}

interface Step {
  readonly model: string;
  readonly tiles: ChosenTiles;
}

interface TiledHead {
  readonly head: string;
  readonly rois: readonly number[] | undefined;
  readonly steps: readonly Step[];
  /** With `form: auto`: the estimate per image of `form: cut`, where the head can be cut. */
  readonly cutMs?: number;
}

interface HeadRequest {
  readonly head: string;
  readonly own: HeadParams;
  readonly model: Model;
  readonly target: Target;
  readonly counts: readonly number[] | undefined;
}

async function tileHead({ params }: TileRoisJob, { head, own, model, target, counts }: HeadRequest): Promise<TiledHead> {
  const grids = own.grid === undefined ? listGrids(params.maxTiles) : [pairOf(own.grid)];
  const { mask } = params;
  const tile = async (name: string, part: Model, forms: readonly StrideForm[]): Promise<Step> => ({
    model: name,
    tiles: await chooseTiles({ name, model: part, target, mask, forms, grids, counts }),
  });
  const tileCut = async (cut: CutHead): Promise<readonly Step[]> => [
    await tile(nameOfTiles(head), cut.map, ['direct']),
    await tile(nameOfRows(head), cut.rows, ['direct']),
  ];
  if (own.form !== 'cut') {
    const forms = own.form === 'auto' ? (['direct', 'strided'] as const) : [own.form];
    const steps = [await tile(nameOfTiles(head), model, forms)];
    const cut = own.form === 'auto' && hasStridedForm(steps) ? cutAtFlatten(model) : undefined;
    return { head, rois: counts, steps, ...(cut === undefined ? {} : { cutMs: sumMs(await tileCut(cut)) }) };
  }
  const cut = cutAtFlatten(model);
  if (cut === undefined) {
    throw new StageError('tiles-cut', `head "${head}" computes nothing before a Flatten, so that it cannot be cut there`, {
      help: 'set `form: auto`: the host then lays the rows out as channels of the one model',
    });
  }
  return { head, rois: counts, steps: await tileCut(cut) };
}

/** Whether a Gemm on whole tiles has other forms. */
const hasStridedForm = (steps: readonly Step[]): boolean =>
  steps.some(({ tiles }) => tiles.candidates.some(({ form }) => form === 'strided'));

const sumMs = (steps: readonly Step[]): number => steps.reduce((sum, { tiles }) => sum + tiles.chosen.perImage.ms, 0);

const pairOf = ([rows = 1, columns = 1]: readonly number[]): Pair<number> => [rows, columns];

/** RoIs per image of a head. @throws StageError `no-row-counts` where a grid has to be chosen without them. */
async function readCounts({ inputs }: TileRoisJob): Promise<(head: string, own: HeadParams) => readonly number[] | undefined> {
  const captured = inputs.captured === undefined ? undefined : await readInput(inputs, 'captured', openCaptured);
  return (head, { grid }) => {
    const isCaptured = captured?.index.parts.some(({ name }) => name === head) === true;
    if (captured !== undefined && isCaptured) return rowCounts(captured.index, head).seen;
    if (grid !== undefined) return undefined;
    throw new StageError('no-row-counts', `the number of RoIs per image of head "${head}" is unknown, so that no grid can be chosen`, {
      help: 'connect `captured`, or set `grid` of the head, for example [4, 4]',
    });
  };
}

function partTiles(steps: readonly Step[]): PartTiles {
  return {
    steps: steps.map(({ model, tiles: { tiled, chosen } }): TileStep => {
      const { inputs, outputs, masks } = tiled;
      return { model, grid: chosen.grid, inputs, outputs, ...(masks.length === 0 ? {} : { masks }) };
    }),
  };
}

/** All calls of an image. */
function metricsOf(steps: readonly Step[]): JsonObject {
  const chosen = steps.map(({ tiles }) => tiles.chosen);
  return {
    calls: chosen.reduce((sum, { calls }) => sum + calls, 0),
    tiles: chosen[0] === undefined ? 0 : chosen[0].grid[0] * chosen[0].grid[1],
    npuMacShare: Math.min(...chosen.map(({ npuMacShare }) => npuMacShare)),
    estimatedMs: sumMs(steps),
  };
}

function reportOf({ mask }: TileRoisParams, target: Target, heads: readonly TiledHead[]): Json {
  return {
    format: 'tanren-tiles/1',
    target: target.identity,
    mask,
    heads: heads.map(({ head, rois, steps, cutMs }) => ({
      head,
      ...(rois === undefined ? {} : { rois }),
      ...(cutMs === undefined ? {} : { cutMs }),
      steps: steps.map(({ model, tiles: { chosen, candidates } }) => ({ model, chosen, candidates })),
    })),
  };
}

function describe(model: string, { chosen, candidates, tiled }: ChosenTiles): string {
  const { grid, calls, perImage, npuMacShare } = chosen;
  const [single] = candidates;
  const alone =
    single === undefined || single.grid[0] * single.grid[1] !== 1 ? '' : `, one RoI per call ${single.perImage.ms.toFixed(1)} ms`;
  const [input] = tiled.inputs;
  const pitch = input === undefined ? '' : `, pitch ${input.pitch.join(' × ')}`;
  return `${model}: ${grid.join(' × ')} tiles${pitch}: ${calls.toFixed(1)} calls per image, estimated ${perImage.ms.toFixed(1)} ms${alone}; ${(100 * npuMacShare).toFixed(1)} % of the MACs on the NPU`;
}
