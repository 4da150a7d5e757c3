/** How often quantized models agree with the float model on images: the best class, or the detections, where the pipeline says how outputs are read. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { readJsonShape } from '../../../../base/json/json-shape.js';
import { readerOf } from '../../../../base/schema/schema-reader.js';
import { compareDetections, detectionFiguresOf, mergeDetectionComparisons } from '../../../../detection/compare/compare-detections.js';
import { takeFirstOfBatch } from '../../../../detection/data/image-feeds.js';
import { findImageInputs } from '../../../../detection/data/image-inputs.js';
import { findImageFile, type ListedImage, listImageFolder, takeFromFolders } from '../../../../detection/data/image-list.js';
import type { DetectedObjects, Detector } from '../../../../detection/detector/detector.js';
import { DetectionError } from '../../../../detection/error/detection-error.js';
import { decodeImage } from '../../../../detection/image/decode-image.js';
import { batchOf } from '../../../../detection/image/image-form.js';
import { PREPROCESSING_SCHEMA, type Preprocessing } from '../../../../detection/image/preprocessing-schema.js';
import { readNetworkFeeds } from '../../../../detection/image-network.js';
import { openDetector } from '../../../../detection/open-detector.js';
import { readDefinition } from '../../../../detection/read-definition.js';
import type { Plan } from '../../../../engine/model/plan.js';
import { readModel } from '../../../../onnx/serde/model-file.js';
import { openSession } from '../../../../runtime/session/session.js';
import { readJsonFile } from '../../../../stage/json-file.js';
import type { TryProject } from './project.js';
import type { Agreement } from './tried.js';

/** The path of a stage's output; undefined where it was not built. */
type PathOf = (stage: string, port: string) => string | undefined;

/** Objects with a lower score are not counted; half of overlap is a match. */
const RULE = { matchIou: 0.5, minScore: 0.3 };

export interface Agreements {
  readonly byPreset: ReadonlyMap<string, Agreement>;
  /** Why the outputs of the float model cannot be read as the decoder says that was assumed. */
  readonly unreadable?: string;
}

/** Without agreements where the outputs are neither classes nor detections. */
export async function measureAgreement(project: TryProject, plan: Plan, pathOf: PathOf): Promise<Agreements> {
  try {
    return { byPreset: await compareAll(project, plan, pathOf) };
  } catch (error) {
    if (!(error instanceof DetectionError && MISFITS.includes(error.code))) throw error;
    return { byPreset: new Map(), unreadable: error.message };
  }
}

/** Errors of a decoder that does not fit the values of outputs, which were known by their shapes only. */
const MISFITS: readonly string[] = ['batch-rows', 'decoder-result', 'decoder-shape', 'part-values'];

async function compareAll(project: TryProject, plan: Plan, pathOf: PathOf): Promise<ReadonlyMap<string, Agreement>> {
  const { imageFolder, images, presets } = project;
  const float = pathOf('parts', 'network') ?? pathOf('simplify', 'model');
  if (imageFolder === undefined || float === undefined) return new Map();
  const listed = takeFromFolders(await listImageFolder(imageFolder), images.count);
  const recipe = pathOf('detector', 'recipe');
  const isClassifier = project.what.startsWith('a classifier');
  const { pixels } = project;
  if (recipe === undefined && !isClassifier && pixels === undefined) return new Map();
  const results = new Map<string, Agreement>();
  const read =
    recipe === undefined ? readClasses(plan, listed, imageFolder, pixels) : readObjects(recipe, hostPartsOf(pathOf), listed, imageFolder);
  const reference = await read(float);
  for (const preset of presets) {
    const path = pathOf(`quantize@${preset}`, 'model');
    if (path !== undefined) results.set(preset, reference.compare(await read(path)));
  }
  return results;
}

/** The parts of a whole detector besides its network. */
function hostPartsOf(pathOf: PathOf): Readonly<Record<string, string>> {
  const paths = ['prepare', 'rest'].map(name => [name, pathOf('parts', name)] as const);
  return Object.fromEntries(paths.flatMap(([name, path]) => (path === undefined ? [] : [[name, path] as const])));
}

interface Results {
  readonly classes?: readonly number[];
  readonly objects?: readonly DetectedObjects[];
  compare(other: Results): Agreement;
}

/** @param pixels the output with a score per class and pixel; undefined: the only output has a score per class. */
function readClasses(
  plan: Plan,
  listed: readonly ListedImage[],
  folder: string,
  pixels: TryProject['pixels'],
): (model: string) => Promise<Results> {
  const preprocessing = readPreprocessing(plan);
  return async path => {
    const { inputs } = findImageInputs(await readModel(path), preprocessing);
    const session = await openSession(path, { optimization: 'all' });
    const classes: number[] = [];
    try {
      for (const image of listed) {
        const { feeds } = await readNetworkFeeds(await findImageFile(folder, image), inputs, preprocessing);
        const outputs = await session.run(feeds);
        const [name = '', all] = Object.entries(outputs).find(([name]) => pixels === undefined || name === pixels.output) ?? [];
        const output = all && takeFirstOfBatch(name, all, batchOf(inputs.image.form));
        const best = output?.dtype === 'float32' ? findBest(output.data, findAxis(output.dims, pixels)) : [-1];
        for (const one of best) classes.push(one);
      }
    } finally {
      await session.close();
    }
    const compare = (other: Results): Agreement => ({
      of: pixels === undefined ? 'top-1' : 'pixels',
      total: classes.length,
      equal: classes.filter((one, index) => one === other.classes?.[index]).length,
    });
    return { classes, compare };
  };
}

/** Without pixels, all elements are classes of one place. */
function findAxis(dims: readonly number[], pixels: TryProject['pixels']): ClassAxis {
  const last = dims.at(-1) ?? 1;
  const count = dims.reduce((product, dim) => product * dim, 1);
  if (pixels === undefined) return { classes: count, step: 1 };
  if (pixels.layout === 'channels-last') return { classes: last, step: 1 };
  const classes = dims[1] ?? 1;
  return { classes, step: count / classes };
}

/** `step`: distance of the elements of two classes at one place: 1 where classes are last, the number of places where they are first. */
interface ClassAxis {
  readonly classes: number;
  readonly step: number;
}

/** The class with the highest score at each place; of equal scores the first. */
function findBest(data: Float32Array, { classes, step }: ClassAxis): Int32Array {
  const places = data.length / classes;
  const best = new Int32Array(places);
  const start = (place: number): number => (step === 1 ? place * classes : place);
  for (let label = 1; label < classes; label++)
    for (let place = 0; place < places; place++) {
      const from = start(place);
      if ((data[from + label * step] as number) > (data[from + (best[place] as number) * step] as number)) best[place] = label;
    }
  return best;
}

/** As `calibrate` has it. */
function readPreprocessing({ stages }: Plan): Preprocessing {
  const calibrate = [...stages.values()].find(({ plugin }) => plugin.name === 'calibrate');
  const read = readJsonShape(readerOf(PREPROCESSING_SCHEMA), calibrate?.params.preprocess);
  if (read.kind === 'problems') throw new Error(`preprocess: ${read.problems[0]?.message}`);
  return read.value;
}

function readObjects(
  recipe: string,
  host: Readonly<Record<string, string>>,
  listed: readonly ListedImage[],
  folder: string,
): (model: string) => Promise<Results> {
  return async path => {
    const definition = readDefinition({ recipe: await readJsonFile(recipe), config: undefined, fit: undefined });
    const detector = await openDetector(
      { definition, models: { kind: 'parts', parts: { ...host, model: path } } },
      { optimization: 'all' },
    );
    const objects = await detectAll(detector, listed, folder).finally(() => detector.close());
    const compare = (other: Results): Agreement => {
      const compared = objects.flatMap((one, index) => {
        const candidate = other.objects?.[index];
        return candidate === undefined ? [] : [compareDetections(index, one, candidate, RULE)];
      });
      const { matched, missed, extra } = detectionFiguresOf(mergeDetectionComparisons(compared));
      return { of: 'detections', total: matched + missed + extra, equal: matched };
    };
    return { objects, compare };
  };
}

async function detectAll(detector: Detector, listed: readonly ListedImage[], folder: string): Promise<readonly DetectedObjects[]> {
  const found: DetectedObjects[] = [];
  for (const image of listed) {
    const path = await findImageFile(folder, image);
    found.push((await detector.trace(await decodeImage(await readFile(path), basename(path)))).objects);
  }
  return found;
}
