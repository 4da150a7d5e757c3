/** The stage `evaluate`: figures, baselines, reuse of detections, errors. */

import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json, JsonObject } from '../../../src/base/json.js';
import { COCO_METRICS_SCHEMA } from '../../../src/detection/coco/metrics-schema.js';
import type { InputPaths } from '../../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile } from '../../../src/stage/json-file.js';
import { evaluate } from '../../../stages/evaluate/stage.js';
import { failureOf } from '../../support/error-code.js';
import { readAs } from '../../support/read-as.js';
import { givenFolder, type Interruption, runStage, type StageRun } from '../../support/run-stage.js';
import { CPU_RUNNER } from '../../support/runner-host.js';
import { type ShapesFiles, writeShapes } from '../../support/shapes-files.js';
import { storingMemo } from '../../support/storing-memo.js';

const folder = givenFolder('evaluate');
let files: ShapesFiles;

beforeAll(async () => {
  files = await writeShapes(folder.path);
});

function run(params: JsonObject, inputs: InputPaths = {}): Promise<StageRun> {
  const shared = { parts: files.parts, recipe: files.recipe, config: files.config, data: files.val };
  return runStage(evaluate, { params, inputs: { ...shared, ...inputs }, folder: folder.path });
}

type Annotations = { images: JsonObject[]; annotations: JsonObject[]; categories: Json };

/** The first three images of the data set, changed by `change`, as a data set of its own. */
async function makeData(
  name: string,
  change: (annotations: Annotations, images: string) => Promise<void> | void,
): Promise<Record<string, string>> {
  const source = (await readJsonFile(files.val.annotations)) as unknown as Annotations;
  const kept = source.images.slice(0, 3);
  const small: Annotations = {
    images: kept.map(image => ({ ...image })),
    categories: source.categories,
    annotations: source.annotations
      .filter(annotation => kept.some(image => image.id === annotation.image_id))
      .map(annotation => ({ ...annotation })),
  };
  const images = join(folder.path, name);
  await mkdir(images);
  for (const image of kept) await cp(join(files.val.images, String(image.file_name)), join(images, String(image.file_name)));
  await change(small, images);
  const annotations = join(folder.path, `${name}.json`);
  await writeJsonFile(annotations, small as unknown as Json);
  return { annotations, images };
}

describe('evaluate', () => {
  it('gives the figures and detections of the first images by id', async () => {
    const { outputs, log } = await run({ samples: 3 });
    const metrics = (await readJsonFile(outputs.metrics ?? '')) as JsonObject;
    expect(metrics).toMatchObject({
      images: 3,
      bbox: { AP: expect.any(Number), ARlarge: expect.any(Number) },
      segm: { AP: expect.any(Number) },
    });
    expect(metrics).not.toHaveProperty('delta');
    const detections = (await readJsonFile(outputs.detections ?? '')) as JsonObject[];
    expect(detections).toHaveLength(metrics.detections as number);
    expect(new Set(detections.map(detection => detection.image_id))).toEqual(new Set([1000, 1007, 1014]));
    expect(Object.keys(detections[0] ?? {})).toEqual(['image_id', 'category_id', 'bbox', 'score', 'segmentation']);
    expect(log.join('\n')).toMatch(/bbox: AP 0\.\d{4}/);
  });

  it('computes the models in the arithmetic of a device with runner: simulate, and keeps its detections apart', async () => {
    const [cpu, device] = [await run({ samples: 1 }), await run({ samples: 1, runner: 'simulate', simulate: { arithmetic: 'bfp16' } })];
    const scoresOf = async ({ outputs }: StageRun): Promise<number[]> =>
      ((await readJsonFile(outputs.detections ?? '')) as JsonObject[]).map(({ score }) => Number(score));
    const [own, simulated] = [await scoresOf(cpu), await scoresOf(device)];
    expect(simulated).not.toEqual(own);
    // The best object is found with 8 bits per number too.
    expect(Math.abs(Math.max(...simulated) - Math.max(...own))).toBeLessThan(0.05);
    expect(await readJsonFile(device.outputs.metrics ?? '')).not.toHaveProperty('rounding');
  });

  it('warns where AP is less than a tenth of the baseline', async () => {
    const path = join(folder.path, 'collapsed.json');
    const against = async (AP: number) => {
      const { outputs } = await run({ samples: 2, iouTypes: ['bbox'] });
      const baseline = await readAs(COCO_METRICS_SCHEMA, outputs.metrics);
      await writeJsonFile(path, { ...baseline, bbox: { ...baseline.bbox, AP } } as unknown as Json);
      const own = baseline.bbox?.AP ?? 0;
      const { log } = await run({ samples: 2, iouTypes: ['bbox'] }, { baseline: path });
      return { own, warnings: log.filter(line => JSON.stringify(line).includes('less than a tenth')) };
    };
    const { own, warnings } = await against(1);
    expect(own).toBeGreaterThan(0.1);
    expect(warnings).toEqual([]);
    expect((await against(own * 11)).warnings).toHaveLength(1);
  });

  it('gives differences to a baseline for figures that both have', async () => {
    const first = await run({ samples: 2 });
    const baseline = await readAs(COCO_METRICS_SCHEMA, first.outputs.metrics);
    const path = join(folder.path, 'baseline.json');
    await writeJsonFile(path, { ...baseline, bbox: { ...baseline.bbox, AP: (baseline.bbox?.AP ?? 0) - 0.25, AP50: -1 } });
    const { outputs } = await run({ samples: 2, iouTypes: ['bbox'] }, { baseline: path });
    const metrics = await readAs(COCO_METRICS_SCHEMA, outputs.metrics);
    expect(metrics.delta?.bbox?.AP).toBeCloseTo(0.25, 12);
    expect(metrics.delta?.bbox?.AR100).toBe(0);
    expect(metrics.delta?.bbox).not.toHaveProperty('AP50');
    expect(metrics).not.toHaveProperty('segm');
    expect(await failureOf(() => run({ samples: 1 }, { baseline: path }))).toMatchObject({ code: 'baseline-metrics' });
    expect(await failureOf(() => run({ samples: 2 }, { baseline: files.config }))).toMatchObject({ code: 'baseline-metrics' });
  });

  it('only new images of a larger data set are run, and an interrupted run continues where it stopped', async () => {
    const kept = storingMemo(folder);
    const inputs = { parts: files.parts, recipe: files.recipe, config: files.config, data: files.val };
    const measure = async (samples: number, interruption?: Interruption): Promise<JsonObject> => {
      const { outputs } = await runStage(evaluate, { params: { samples }, inputs, folder: folder.path, memo: kept.memo, ...interruption });
      return (await readJsonFile(outputs.metrics ?? '')) as JsonObject;
    };
    const stop = new AbortController();

    await measure(1);
    expect(kept.forget()).toHaveLength(1);
    // Of four images the first is known: one more is done when it is interrupted.
    const progress = (done: number): void => (done === 2 ? stop.abort() : undefined);
    await expect(measure(4, { signal: stop.signal, progress })).rejects.toMatchObject({ name: 'AbortError' });
    expect(kept.forget()).toHaveLength(1);
    const grown = await measure(4);
    expect(kept.forget()).toHaveLength(2);
    expect(grown).toEqual(await readJsonFile((await run({ samples: 4 })).outputs.metrics ?? ''));
  });

  it('equal inputs give equal bytes', async () => {
    const [a, b] = [await run({ samples: 2 }), await run({ samples: 2 })];
    for (const port of ['metrics', 'detections'])
      expect(await readJsonFile(a.outputs[port] ?? '')).toEqual(await readJsonFile(b.outputs[port] ?? ''));
  });

  it('gives the same figures and detections through an external runner of the same provider', async () => {
    const external = { command: [process.execPath, CPU_RUNNER], device: 'cpu' };
    const [here, there] = [await run({ samples: 2 }), await run({ samples: 2, runner: 'external', external })];
    for (const port of ['metrics', 'detections'])
      expect(await readJsonFile(there.outputs[port] ?? '')).toEqual(await readJsonFile(here.outputs[port] ?? ''));
  });

  const emptyAnnotations = (data: Annotations): void => {
    data.annotations = [];
  };
  const emptyAll = (data: Annotations): void => {
    data.images = [];
    data.annotations = [];
  };
  const setImage =
    (index: number, change: JsonObject) =>
    (data: Annotations): void => {
      data.images[index] = { ...data.images[index], ...change };
    };
  const misplaceAnnotation = (data: Annotations): void => {
    data.annotations[0] = { ...data.annotations[0], image_id: 77 };
  };
  const damageImage = (data: Annotations, images: string): Promise<void> =>
    writeFile(join(images, String(data.images[2]?.file_name)), 'no image');

  it.each<[string, (annotations: Annotations, images: string) => Promise<void> | void, string, RegExp]>([
    ['an image without file', setImage(1, { file_name: 'absent.jpg' }), 'image-missing', /absent\.jpg/],
    ['an image that does not decode', damageImage, 'image-decode', /1014/],
    [
      'an image of another size than annotated',
      setImage(0, { width: 300 }),
      'image-size',
      /256×192 pixels, but the annotations say 300×192/,
    ],
    ['a data set without images', emptyAll, 'no-images', /no images/],
    ['a data set without objects', emptyAnnotations, 'no-annotations', /3 images/],
  ])('%s is refused', async (name, change, code, message) => {
    const data = await makeData(name.replaceAll(' ', '-'), change);
    const failure = await failureOf(() => run({}, { data }));
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(message);
  });

  it('an annotation without image is ignored, with a warning', async () => {
    const data = await makeData('an-annotation-without-image', misplaceAnnotation);
    const { log } = await run({}, { data });
    expect(log).toContainEqual(
      expect.stringMatching(/^warning: .*: 1 annotation of an image that the file does not have, ignored \(annotations\[0\]: image 77\)$/),
    );
  });

  it('more samples than images are refused', async () => {
    expect(await failureOf(() => run({ samples: 201 }))).toMatchObject({ code: 'too-few-images' });
  });

  it('a config that does not fit the models is refused', async () => {
    const config = (await readJsonFile(files.config)) as JsonObject;
    const path = join(folder.path, 'config.json');
    await writeJsonFile(path, { ...config, numClasses: 13 });
    expect(await failureOf(() => run({ samples: 1 }, { config: path }))).toMatchObject({ code: 'config-mismatch' });
  });
});
