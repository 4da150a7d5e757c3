/** Runs `compile`: chooses the target, compiles every model, then writes report, metrics and bundle. */
import { join } from 'node:path';
import type { DetectorDefinition } from '../../src/detection/detector/detector-family.js';
import { checkModelNames } from '../../src/detection/open-detector.js';
import { readDefinition } from '../../src/detection/read-definition.js';
import { listModelsOnTiles, type ModelOnTiles, type TilesByPart } from '../../src/detection/tiles/part-tiles.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { readModel, writeModel } from '../../src/onnx/serde/model-file.js';
import { openCaptured } from '../../src/runtime/capture/captured.js';
import { evaluate } from '../../src/runtime/session/evaluate.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile, writeMetricsFile } from '../../src/stage/json-file.js';
import { getInputPath, getInputRecord, getOutputPath, readInput } from '../../src/stage/paths.js';
import { StageError } from '../../src/stage/stage-error.js';
import { fitRuntime } from '../../src/target/bundle/fit-runtime.js';
import type { GoldenFeeds } from '../../src/target/bundle/golden.js';
import { capturedGoldenFeeds, probeFeeds, randomGoldenFeeds } from '../../src/target/bundle/golden-feeds.js';
import { type MergedOutputs, mergeOutputs } from '../../src/target/bundle/merged-outputs.js';
import { findRuntime, listRyzenAiOptions } from '../../src/target/bundle/provider-options.js';
import { writeBundle } from '../../src/target/bundle/write-bundle.js';
import { type CompiledModel, type CompileOptions, compileModel } from '../../src/target/compile-model.js';
import { describeSeveralModels } from '../../src/target/legality/defects.js';
import type { Target } from '../../src/target/profile/choose-target.js';
import { openTarget } from '../../src/target/profile/open-target.js';
import {
  COMPILE_REPORT_FORMAT,
  type CompileReport,
  type Device,
  type ModelReport,
  type PlacementReport,
} from '../../src/target/report/compile-report.js';
import { TargetError } from '../../src/target/report/target-error.js';
import { checkPins, findSizeNames, pinSizes } from '../../src/target/units/pin-sizes.js';
import { choosePlaces, describePlace, listPartsWithoutChoice } from './choose-places.js';
import { describeModel, describeNothing } from './describe-model.js';
import { findLeastSqnr, withoutSimulation } from './float-models.js';
import type { GivenModel } from './given-model.js';
import { readMeasuredTimes } from './measured-times.js';
import { makeMetrics } from './metrics.js';
import type { CompileParams } from './params.js';
import { placeModels } from './placement.js';
import { countRois, type RoisByModel } from './roi-counts.js';

type CompileJob = StageJob<CompileParams>;
/**
 * @throws TargetError as chooseTarget, compileModel and fitRuntime, `unknown-size`, `provider-option`; StageError `compile-input`, `unknown-model`; DetectionError of recipe and config; OnnxError of reading and shape inference.
 */
export async function runCompile(job: CompileJob): Promise<void> {
  const { params, outputs, context } = job;
  const target = openTarget(params, job.inputs.profile === undefined ? undefined : await readInput(job.inputs, 'profile', readJsonFile));
  checkProviderOptions(job, target);
  if (params.outputs === 'merged' && target.dtype.form !== 'float') {
    throw new StageError('compile-input', `\`outputs: merged\` is for float models, and the data type is ${target.identity.dtype}`, {
      help: 'remove `outputs`: several outputs of quantized models were observed to be right',
    });
  }
  const given = await readModels(job);
  checkPins(
    params.pin,
    given.map(({ model }) => model),
  );
  const declared = await readDetector(job, given);
  const compileOn = await openCompiler(job, target, given, declared);
  const placements = await readPlaces(job, given, declared, compileOn);
  for (const row of placements ?? []) context.log('info', describePlace(row));
  const places = params.place === 'auto' ? Object.fromEntries((placements ?? []).map(({ part, device }) => [part, device])) : params.place;
  const { models, detector, leftOut, deviceOf } = placeModels(places, given, declared);
  for (const { name } of leftOut) context.log('info', `${name} is left out: its part runs on the CPU, without tiles`);
  const compiled: (Compiled & CompiledModel)[] = [];
  for (const one of models) {
    context.signal.throwIfAborted();
    const { name, model, path } = one;
    const { separate, pinned, merged, isPinned, result } = await compileOn(one, deviceOf(name));
    const wholePath = pinned === model ? path : await writePinned(job, name, pinned);
    const isFree = result.sizes === 'free';
    if (isFree) context.log('info', `${name}: sizes depend on the data: no golden values, and its estimate is of what is known`);
    const golden = isFree ? [] : await readGolden(job, name, pinned);
    const probes = params.golden === 0 || isFree ? [] : probeFeeds(pinned, sample => context.random(`probe ${name} ${sample}`));
    const isFloat = target.dtype.form === 'float' && deviceOf(name) === 'npu';
    const tolerance = isFloat && golden.length > 0 ? { leastSqnrDb: await findLeastSqnr(separate, golden) } : {};
    compiled.push({
      name,
      sourcePath: path,
      wholePath,
      pinned: isPinned,
      whole: pinned,
      golden,
      probes,
      ...tolerance,
      ...result,
      ...(merged === undefined ? {} : { merged }),
    });
    context.log('info', describeModel(result));
    const nothing = describeNothing(result);
    if (nothing !== undefined) context.log('warning', nothing);
    context.progress(compiled.length, models.length, 'models');
  }
  for (const warning of describeSeveralModels(target, compiled.filter(({ report: { place } }) => place !== 'cpu').length))
    context.log('warning', warning);
  const report: CompileReport = {
    format: COMPILE_REPORT_FORMAT,
    target: target.identity,
    models: compiled.map(({ report }) => withReplacement(report, detector?.tiles)),
    ...(placements === undefined ? {} : { placements }),
  };
  await writeBundle({
    folder: getOutputPath(outputs, 'bundle'),
    report,
    providerOptions: params.providerOptions,
    models: compiled.map(({ report: { parts: reports }, parts, ...model }) => ({
      ...model,
      parts: reports.flatMap((part, index) => {
        const extracted = parts[index];
        return extracted === undefined ? [] : [{ report: part, model: extracted }];
      }),
    })),
    ...(detector === undefined ? {} : { detector }),
  });
  await writeJsonFile(getOutputPath(outputs, 'report'), report);
  await writeMetricsFile(getOutputPath(outputs, 'metrics'), makeMetrics(report));
}

/** Rows of `place: auto`; undefined where places are declared. @throws StageError `compile-input`. */
async function readPlaces(
  job: CompileJob,
  models: readonly GivenModel[],
  detector: DetectorDefinition | undefined,
  compileOn: CompileOn,
): Promise<readonly PlacementReport[] | undefined> {
  if (job.params.place !== 'auto') {
    if (job.inputs.measured === undefined) return undefined;
    throw new StageError('compile-input', '`measured` is connected without `place: auto`', {
      help: 'set `place: auto`, or remove `measured`',
    });
  }
  for (const part of detector === undefined ? [] : listPartsWithoutChoice(models, detector)) {
    job.context.log('info', `${part} runs on the NPU: its model without tiles is not connected as \`models.${part}\``);
  }
  return choosePlaces({
    models,
    detector,
    findTime: await readMeasuredTimes(job.inputs),
    compile: async (model, device) => (await compileOn(model, device)).result.report,
  });
}

interface CompiledOn {
  /** With the outputs of the given model. */
  readonly separate: Model;
  readonly pinned: Model;
  readonly merged?: MergedOutputs | undefined;
  /** Whether `pin` fixes a size of it. */
  readonly isPinned: boolean;
  readonly result: CompiledModel;
}

type CompileOn = (model: GivenModel, place: Device) => Promise<CompiledOn>;

/** Compiles models for a device, with their calls per image. */
async function openCompiler(
  job: CompileJob,
  target: Target,
  models: readonly GivenModel[],
  detector: DetectorDefinition | undefined,
): Promise<CompileOn> {
  const { params } = job;
  const tiles = detector?.tiles ?? {};
  const onTiles = listModelsOnTiles(tiles);
  const rois = await countRois(job, [...models.map(({ name }) => name), ...Object.keys(tiles)]);
  return async ({ name, model }, place) => {
    const isPinned = findSizeNames(model).some(size => Object.hasOwn(params.pin, size));
    const plain = target.dtype.form === 'float' ? withoutSimulation(model) : model;
    const separate = fitModel(name, isPinned ? pinSizes(plain, params.pin) : plain, target);
    const { model: pinned, merged } = params.outputs === 'merged' && place === 'npu' ? mergeOutputs(name, separate) : { model: separate };
    const result = await compileModel(name, pinned, target, {
      evaluate,
      undocumented: params.undocumented,
      largerBatch: params.largerBatch,
      // A choice of the device needs an estimate, and an estimate needs sizes.
      accept: place === 'cpu' && params.place !== 'auto' ? 'any' : 'quantized',
      place,
      ...callsOf(name, onTiles.get(name), rois, params),
    });
    return { separate, pinned, merged, isPinned, result };
  };
}

/** The calls of a model for the RoIs of an image: in batches, or as tiles of canvases. */
function callsOf(
  name: string,
  own: ModelOnTiles | undefined,
  rois: RoisByModel,
  { batches }: CompileParams,
): Pick<CompileOptions, 'batches' | 'tiles'> {
  const counts = rois.get(name) ?? (own === undefined ? undefined : rois.get(own.part));
  if (own !== undefined) return { tiles: { perCall: own.tiles, ...(counts === undefined ? {} : { counts: counts.counts }) } };
  return counts === undefined ? {} : { batches: { rois: counts, sizes: batches } };
}

/** A head that the recipe runs on tiles is in the bundle, but does not run. */
function withReplacement(report: ModelReport, tiles: TilesByPart = {}): ModelReport {
  const steps = Object.hasOwn(tiles, report.name) ? tiles[report.name]?.steps : undefined;
  const models = steps?.map(({ model }) => model) ?? [];
  return models.length === 0 || models.includes(report.name) ? report : { ...report, replacedBy: models };
}

/** Ryzen AI's ONNX Runtime of the chosen version must read the model. */
function fitModel(name: string, model: Model, { identity }: Target): Model {
  const runtime = identity.profile === 'ryzen-ai' ? findRuntime(identity.version) : undefined;
  return runtime === undefined ? model : fitRuntime(name, model, runtime);
}

/** @throws TargetError `provider-option`. */
function checkProviderOptions({ params: { providerOptions } }: CompileJob, { identity }: Target): void {
  const { profile, version, device, dtype } = identity;
  if (profile === 'ryzen-ai') listRyzenAiOptions({ version, device, providerOptions }, dtype);
  else if (Object.keys(providerOptions).length > 0) {
    throw new TargetError('provider-option', `\`providerOptions\` has no use for target ${profile}`, { help: 'remove `providerOptions`' });
  }
}

interface Compiled {
  readonly name: string;
  readonly sourcePath: string;
  readonly wholePath: string;
  readonly pinned: boolean;
  readonly whole: Model;
  readonly golden: readonly GoldenFeeds[];
  readonly probes: readonly GoldenFeeds[];
  readonly leastSqnrDb?: Readonly<Record<string, number>>;
  readonly merged?: MergedOutputs;
}

async function readModels({ inputs }: CompileJob): Promise<readonly GivenModel[]> {
  if ((inputs.model === undefined) === (inputs.models === undefined)) {
    throw new StageError(
      'compile-input',
      `connect either \`model\` or \`models\`, ${inputs.model === undefined ? 'none is connected' : 'both are connected'}`,
    );
  }
  if (inputs.model !== undefined) {
    return [{ name: 'model', model: await readInput(inputs, 'model', readModel), path: getInputPath(inputs, 'model') }];
  }
  const paths = Object.entries(getInputRecord(inputs, 'models')).sort(([a], [b]) => (a < b ? -1 : 1));
  return Promise.all(paths.map(async ([name, path]) => ({ name, model: await readModel(path), path })));
}

/** The detector of the models, for the programs of the bundle. @throws StageError `compile-input`; DetectionError of recipe and config, `part-missing`. */
async function readDetector({ inputs }: CompileJob, models: readonly GivenModel[]): Promise<DetectorDefinition | undefined> {
  if (inputs.recipe === undefined) {
    if (inputs.config === undefined) return undefined;
    throw new StageError('compile-input', '`config` is connected without `recipe`', {
      help: 'connect the host recipe too, or remove `config`',
    });
  }
  const definition = readDefinition({
    recipe: await readInput(inputs, 'recipe', readJsonFile),
    config: inputs.config === undefined ? undefined : await readInput(inputs, 'config', readJsonFile),
    fit: undefined,
  });
  checkModelNames(Object.fromEntries(models.map(({ name, path }) => [name, path])), definition, 'untiled');
  return definition;
}

/** @returns the path of the model file with pinned sizes. */
async function writePinned({ context }: CompileJob, name: string, model: Model): Promise<string> {
  const path = join(context.scratch, `${name}.onnx`);
  await writeModel(path, model);
  return path;
}

/** Inputs of golden values: captured ones if the part was captured, else random ones. */
async function readGolden({ params, inputs, context }: CompileJob, name: string, model: Model): Promise<readonly GoldenFeeds[]> {
  const captured = inputs.captured === undefined ? undefined : await readInput(inputs, 'captured', openCaptured);
  if (params.golden > 0 && captured?.index.parts.some(part => part.name === name) === true) {
    const feeds = await capturedGoldenFeeds(model, captured, name, params.golden);
    if (feeds.length < params.golden)
      context.log('info', `${name}: ${feeds.length} golden samples instead of ${params.golden}, as many as \`captured\` has`);
    return feeds;
  }
  return randomGoldenFeeds(model, params.golden, sample => context.random(`golden ${name} ${sample}`));
}
