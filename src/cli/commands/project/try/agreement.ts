/** How often quantized models agree with the float model on images: the best class, or the detections, where the pipeline says how outputs are read. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { readJsonShape } from '../../../../base/json/json-shape.js';
import { readerOf } from '../../../../base/schema/schema-reader.js';
import { compareDetections, detectionFiguresOf, mergeDetectionComparisons } from '../../../../detection/compare/compare-detections.js';
import { findImageFile, type ListedImage, listImageFolder, takeFromFolders } from '../../../../detection/data/image-list.js';
import { makeImageSamples } from '../../../../detection/data/image-samples.js';
import type { DetectedObjects, Detector } from '../../../../detection/detector/detector.js';
import { decodeImage } from '../../../../detection/image/decode-image.js';
import { PREPROCESSING_SCHEMA, type Preprocessing } from '../../../../detection/image/preprocessing-schema.js';
import { openDetector } from '../../../../detection/open-detector.js';
import { readDefinition } from '../../../../detection/read-definition.js';
import type { Plan } from '../../../../engine/model/plan.js';
import { readModel } from '../../../../onnx/serde/model-file.js';
import { listModelInputs } from '../../../../runtime/session/model-inputs.js';
import { openSession } from '../../../../runtime/session/session.js';
import { readJsonFile } from '../../../../stage/json-file.js';
import type { TryProject } from './project.js';
import type { Agreement } from './tried.js';

/** The path of a stage's output; undefined where it was not built. */
type PathOf = (stage: string, port: string) => string | undefined;

/** Objects with a lower score are not counted; half of overlap is a match. */
const RULE = { matchIou: 0.5, minScore: 0.3 };

/** By preset. Empty where the outputs are neither classes nor detections. */
export async function measureAgreement(project: TryProject, plan: Plan, pathOf: PathOf): Promise<ReadonlyMap<string, Agreement>> {
  const { imageFolder, images, presets } = project;
  const float = pathOf('parts', 'network') ?? pathOf('simplify', 'model');
  if (imageFolder === undefined || float === undefined) return new Map();
  const listed = takeFromFolders(await listImageFolder(imageFolder), images.count);
  const recipe = pathOf('detector', 'recipe');
  const isClassifier = project.what.startsWith('a classifier');
  if (recipe === undefined && !isClassifier) return new Map();
  const results = new Map<string, Agreement>();
  const read =
    recipe === undefined ? readClasses(plan, listed, imageFolder) : readObjects(recipe, hostPartsOf(pathOf), listed, imageFolder);
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

function readClasses(plan: Plan, listed: readonly ListedImage[], folder: string): (model: string) => Promise<Results> {
  const preprocessing = readPreprocessing(plan);
  return async path => {
    const samples = makeImageSamples(listed, folder, listModelInputs(await readModel(path)), preprocessing);
    const session = await openSession(path, { optimization: 'all' });
    const classes: number[] = [];
    try {
      for (const sample of samples) {
        const [output] = Object.values(await session.run(await sample.read()));
        classes.push(
          output?.dtype === 'float32' ? output.data.indexOf(output.data.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)) : -1,
        );
      }
    } finally {
      await session.close();
    }
    const compare = (other: Results): Agreement => ({
      of: 'top-1',
      total: classes.length,
      equal: classes.filter((one, index) => one === other.classes?.[index]).length,
    });
    return { classes, compare };
  };
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
