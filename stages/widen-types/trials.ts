/** The trials of `widen-types`: figures of one set of wider types, measured once and kept. */

import { join } from 'node:path';
import { digestFile, digestJson } from '../../src/base/digest.js';
import { getDefined } from '../../src/base/invariant.js';
import { isJsonObject, type Json } from '../../src/base/json.js';
import { COCO_KINDS } from '../../src/detection/coco/figure-names.js';
import { findImageFile } from '../../src/detection/data/image-list.js';
import { checkModelNames } from '../../src/detection/open-detector.js';
import { readDefinition } from '../../src/detection/read-definition.js';
import { listPartModels } from '../../src/detection/tiles/part-tiles.js';
import { type OutputError, parseOutputErrors } from '../../src/quant/sensitivity/report-schema.js';
import { vanishing } from '../../src/quant/sensitivity/sensitivity-report.js';
import type { WideBlock } from '../../src/quant/widening/wide-blocks.js';
import type { WidenedTypes } from '../../src/quant/widening/widened-types.js';
import { sessionManifest } from '../../src/runtime/session/session.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile } from '../../src/stage/json-file.js';
import { memoJson } from '../../src/stage/json-part.js';
import { rolesOfModels } from '../../src/stage/model-roles.js';
import { findInputRecord, getInputPath, getInputRecord, readInput } from '../../src/stage/paths.js';
import { StageError } from '../../src/stage/stage-error.js';
import { detectionsPart } from './detections-part.js';
import type { ErrorsManifest } from './errors-part.js';
import { type DetectionManifest, figuresPart, readImages } from './figures-part.js';
import { checkBaseline, checkOutputs, type Figures, figuresOfGate, figuresOfOutputs } from './judge.js';
import { outputsPart } from './outputs-part.js';
import type { WidenTypesParams } from './params.js';

type Job = StageJob<WidenTypesParams>;

export interface Trials {
  /** What the target is about. */
  measure(set: readonly WideBlock[]): Promise<Figures>;
  /** The part of the errors of the outputs that is left: 1 without wider types. */
  errorOf(set: readonly WideBlock[]): Promise<number>;
  /** Number of different sets so far. */
  readonly count: () => number;
}

export async function openTrials(job: Job, run: ErrorsManifest, typesOf: (set: readonly WideBlock[]) => WidenedTypes): Promise<Trials> {
  const { params, context } = job;
  const tried = new Set<string>();
  const note = (types: WidenedTypes): void => {
    tried.add(JSON.stringify(types));
    context.progress(tried.size, tried.size, 'sets');
    context.signal.throwIfAborted();
  };
  const outputsOf = async (set: readonly WideBlock[]): Promise<readonly OutputError[]> => {
    const types = typesOf(set);
    note(types);
    const unkeyed = pathsOf(job);
    const { json } = await memoJson(context, outputsPart, { manifest: { run, types }, blobs: {}, unkeyed });
    return parseOutputErrors(json);
  };
  const errorOf = async (set: readonly WideBlock[]): Promise<number> => 1 - vanishing(await outputsOf([]), await outputsOf(set));
  const { gate, share } = params.constraint;
  if (share !== undefined && params.judge === 'detections')
    return openDetectionTrials(job, run, typesOf, { note, count: () => tried.size });
  if (gate === undefined) {
    checkOutputs(
      params.constraint,
      (await outputsOf([])).map(({ name }) => name),
    );
    return { measure: async set => figuresOfOutputs(await outputsOf(set)), errorOf, count: () => tried.size };
  }
  const detection = await describeDetection(job, run);
  const baseline = job.inputs.baseline === undefined ? undefined : await readInput(job.inputs, 'baseline', readJsonFile);
  checkBaseline(gate, baseline, detection.manifest.images);
  return {
    async measure(set) {
      const types = typesOf(set);
      note(types);
      const { json: measured } = await memoJson(context, figuresPart, {
        manifest: { ...detection.manifest, types },
        blobs: {},
        unkeyed: detection.unkeyed,
      });
      return figuresOfGate(gate, isJsonObject(measured) ? measured : {}, baseline);
    },
    errorOf,
    count: () => tried.size,
  };
}

/** Trials whose errors are those of the detections. They throw StageError `no-detections` if there is nothing to compare with. */
async function openDetectionTrials(
  job: Job,
  run: ErrorsManifest,
  typesOf: (set: readonly WideBlock[]) => WidenedTypes,
  { note, count }: { readonly note: (types: WidenedTypes) => void; readonly count: Trials['count'] },
): Promise<Trials> {
  const detection = await describeDetection(job, run);
  const distanceOf = async (set: readonly WideBlock[]): Promise<number> => {
    const types = typesOf(set);
    note(types);
    const manifest = { ...detection.manifest, types };
    const { json } = await memoJson(job.context, detectionsPart, { manifest, blobs: {}, unkeyed: detection.unkeyed });
    const { error, signal } = parseDistance(json);
    if (signal === 0) throw noDetections(detection.manifest.images);
    return error / signal;
  };
  return { measure: async set => ({ detections: await distanceOf(set) }), errorOf: distanceOf, count };
}

function noDetections(images: number): StageError {
  return new StageError('no-detections', `the float model detects nothing in ${images} images: no set of wider types can be judged`, {
    help: 'use more `images`, or images with objects, or lower the score threshold of the recipe or of `config`',
  });
}

function parseDistance(json: Json): { readonly error: number; readonly signal: number } {
  const { error, signal } = isJsonObject(json) ? json : {};
  if (typeof error === 'number' && typeof signal === 'number') return { error, signal };
  throw new StageError('bad-detections', 'the kept distance of detections has no error and signal', {
    help: 'build the stage again with `--force`',
  });
}

function pathsOf({ inputs, context }: Job) {
  return {
    model: getInputPath(inputs, 'model'),
    sketches: getInputPath(inputs, 'sketches'),
    samples: join(context.scratch, 'samples.json'),
    captured: getInputPath(inputs, 'captured'),
    scratch: context.scratch,
  };
}

interface Detection {
  readonly manifest: DetectionManifest;
  readonly unkeyed: Readonly<Record<string, string>>;
}

/** @throws StageError `no-annotations`; DetectionError `part-missing`, and for data sets and definitions. */
async function describeDetection(job: Job, { model, sketches, quantize, session, biases }: ErrorsManifest): Promise<Detection> {
  const { params, inputs } = job;
  const config: Json | undefined = inputs.config === undefined ? undefined : await readInput(inputs, 'config', readJsonFile);
  const definition = readDefinition({ recipe: await readInput(inputs, 'recipe', readJsonFile), config, fit: params.fit });
  const parts = findInputRecord(inputs, 'parts') ?? {};
  const wanted = definition.parts.flatMap(({ name }) => listPartModels(name, definition.tiles));
  const open = wanted.filter(name => !Object.hasOwn(parts, name));
  const part = params.part ?? (open.length === 1 ? open[0] : undefined);
  checkModelNames({ ...parts, ...(part === undefined ? {} : { [part]: true }) }, definition);
  const { annotations = '', images: folder = '' } = getInputRecord(inputs, 'data');
  const { images, dataset } = await readImages(annotations, params.images);
  if (params.constraint.gate !== undefined && dataset.annotations.length === 0) {
    throw new StageError('no-annotations', `none of the ${images.length} images has an annotated object`, {
      help: 'increase `images`, or connect other annotations',
    });
  }
  const digests: Record<string, string> = { annotations: await digestFile(annotations) };
  for (const image of images) digests[`image ${image.id}`] = await digestFile(await findImageFile(folder, image));
  const models = rolesOfModels(parts);
  for (const [role, path] of Object.entries(models)) digests[role] = await digestFile(path);
  const iouTypes = COCO_KINDS.filter(type => Object.keys(params.constraint.gate ?? {}).some(metric => metric.includes(type)));
  return {
    manifest: {
      run: { model, sketches, quantize, session, ...(biases === undefined ? {} : { biases }) },
      detection: {
        optimization: params.optimization,
        session: sessionManifest({ optimization: params.optimization }),
        definition: definition.files,
      },
      part: getDefined(part, 'part'),
      iouTypes,
      data: digestJson(digests),
      images: images.length,
    },
    unkeyed: {
      ...pathsOf(job),
      annotations,
      images: folder,
      ...models,
    },
  };
}
