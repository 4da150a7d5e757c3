/** YOLACT against tensors, detections and figures computed by the original code of dbolya/yolact, with full-size networks. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CocoDataset } from '../../../src/detection/coco/dataset.js';
import { parseCocoDataset } from '../../../src/detection/coco/dataset.js';
import { evaluateCoco } from '../../../src/detection/coco/evaluate.js';
import { type CocoResult, parseCocoResults } from '../../../src/detection/coco/results.js';
import { listImages } from '../../../src/detection/data/image-list.js';
import { makeCocoResults } from '../../../src/detection/detector/object-results.js';
import { parseYolactConfig } from '../../../src/detection/families/yolact/config.js';
import type { YolactDefaults } from '../../../src/detection/families/yolact/config-defaults.js';
import { exportYolact, type YolactExport } from '../../../src/detection/families/yolact/export/export-yolact.js';
import { makeHost } from '../../../src/detection/families/yolact/objects.js';
import { prepareImage } from '../../../src/detection/families/yolact/prepare-image.js';
import { decodeImage } from '../../../src/detection/image/decode-image.js';
import { type Rle, rleArea } from '../../../src/detection/masks/rle.js';
import { rleIou } from '../../../src/detection/masks/rle-combine.js';
import { openDetector } from '../../../src/detection/open-detector.js';
import { readDefinition } from '../../../src/detection/read-definition.js';
import { getValue } from '../../../src/onnx/ir/edit.js';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { openSession, type Session } from '../../../src/runtime/session/session.js';
import { readJsonFile } from '../../../src/stage/json-file.js';
import { type NpzArchive, readNpz } from '../../../src/tensor/formats/npz.js';
import { readStateDict } from '../../../src/tensor/formats/state-dict.js';
import { encodeRawTensor } from '../../../src/tensor/raw-tensor.js';
import { makeTensor, type RawTensor } from '../../../src/tensor/tensor.js';
import { relativeError } from '../../support/detector-parts.js';
import { generatedInput, generatedState, type RecordedNetwork, type RecordedOutput } from '../../support/generated-weights.js';
import { SHAPES_FOLDER } from '../../support/shapes.js';
import { findSharedFolder } from '../../support/shared-folder.js';
import { exportYolactShapes, readYolactShapesConfig, toOriginal } from '../../support/yolact-outputs.js';

/** Within 5e-5 of the recorded standard deviation: ours differs from torch in the order of float32 sums alone. */
const EQUAL = expect.closeTo(0, 4);
const IMAGES = [1000, 1007, 1014];

const shared = findSharedFolder() ?? '';
const suite = shared === '' ? describe.skip : describe;
const readRecorded = (image: number): Promise<NpzArchive> => readNpz(join(shared, `shapes/yolact/stages_${image}.npz`));
const readConfigJson = () => readJsonFile(join(SHAPES_FOLDER, 'models/yolact-shapes.json'));
const readPicture = async (name: string) => decodeImage(await readFile(join(shared, 'shapes/data/val', name)), name);

suite('the trained narrow YOLACT', () => {
  let exported: YolactExport;
  let session: Session;
  beforeAll(async () => {
    exported = await exportYolactShapes();
    session = await openSession(encodeModel(exported.model), { optimization: 'all' });
  });
  afterAll(() => session.close());

  it('has every trained number of the checkpoint but those of the training loss', () => {
    expect(exported.parameters.total).toBe(722_167 - 6 * 32 - 6);
    expect(exported.ignored.map(({ key }) => key)).toEqual(['semantic_seg_conv.weight', 'semantic_seg_conv.bias']);
  });

  it.each(IMAGES)('gives what the original gives on image %i: input, priors, boxes, classes, coefficients, prototypes', async image => {
    const recorded = await readRecorded(image);
    const { recipe } = exported;
    const tensor = prepareImage(await readPicture(`${image}`.padStart(12, '0').concat('.jpg')), recipe.image, recipe.config);
    expect(relativeError(recorded.getFloat32('input').data, tensor.data)).toEqual(EQUAL);
    const priors = makeHost(recipe, recipe.config).priors.flatMap(level => [...level]);
    expect(priors).toEqual([...recorded.getFloat32('priors').data]);

    const outputs = toOriginal(await session.run({ image: recorded.getFloat32('input') }), recipe);
    for (const name of ['loc', 'conf', 'mask', 'proto'] as const)
      expect([name, relativeError(recorded.getFloat32(name).data, outputs[name])]).toEqual([name, EQUAL]);
  });

  /** The recording's raw outputs per level were taken in training mode: batch norms used the statistics of the image, as `loc`, `conf` and `proto` did not. */
  it.each(
    IMAGES,
  )('gives the raw output of every level on image %i, once batch norms have the statistics that it was recorded with', async image => {
    const recorded = await readRecorded(image);
    const { model, recipe } = await exportInTrainingMode(recorded);
    const trained = await openSession(encodeModel(model), { optimization: 'all' });
    const outputs = await trained.run({ image: recorded.getFloat32('input') });
    await trained.close();
    for (const name of recipe.parts.network.outputs)
      expect([name, relativeError(recorded.getFloat32(name).data, outputs[name]?.data as Float32Array)]).toEqual([
        name,
        expect.closeTo(0, 3),
      ]);
  });

  it('finds what the original finds in all 200 images, and reaches its figures', async () => {
    const file = await readJsonFile(join(shared, 'shapes/data/instances_val.json'));
    const dataset = parseCocoDataset(file);
    const recorded = parseCocoResults(await readJsonFile(join(shared, 'shapes/yolact/detections_val.json')), dataset);
    const definition = readDefinition({ recipe: exported.recipe, config: await readConfigJson() });
    const detector = await openDetector(
      { definition, models: { kind: 'whole', model: encodeModel(exported.model) } },
      { optimization: 'all' },
    );
    const found: CocoResult[] = [];
    for (const { id, fileName } of listImages(file))
      found.push(...makeCocoResults(id, (await detector.trace(await readPicture(fileName))).objects));
    await detector.close();
    expect(found).toHaveLength(recorded.length);
    // A box side that lies on a whole pixel may fall to either side of it, and take a pixel of the crop with it.
    expect(countPartners(recorded, found)).toBeGreaterThanOrEqual(0.999 * recorded.length);
    await expectFigures(dataset, found);
  });

  async function expectFigures(dataset: CocoDataset, found: readonly CocoResult[]): Promise<void> {
    const { figures } = (await readJsonFile(join(shared, 'shapes/yolact/figures_val.json'))) as unknown as {
      figures: Readonly<Record<'bbox' | 'segm', Readonly<Record<string, number>>>>;
    };
    for (const type of ['bbox', 'segm'] as const) {
      const ours = evaluateCoco(dataset, found, type) as unknown as Readonly<Record<string, number>>;
      expect(Object.keys(figures[type])).toHaveLength(12);
      for (const [name, value] of Object.entries(figures[type]))
        expect([type, name, Math.abs((ours[name] ?? Number.NaN) - value) <= 0.002]).toEqual([type, name, true]);
    }
  }
});

/** Recorded detections that have one of ours in their image: same category, sides within a pixel, score within 1e-4, the same mask within a hundredth. */
function countPartners(recorded: readonly CocoResult[], found: readonly CocoResult[]): number {
  const free = new Map<CocoResult['imageId'], CocoResult[]>();
  for (const one of found) free.set(one.imageId, [...(free.get(one.imageId) ?? []), one]);
  let partners = 0;
  for (const one of recorded) {
    const candidates = free.get(one.imageId) ?? [];
    const at = candidates.findIndex(
      other =>
        other.categoryId === one.categoryId &&
        Math.abs(other.score - one.score) < 1e-4 &&
        (other.box ?? []).every((value, side) => Math.abs(value - (one.box?.[side] ?? Number.NaN)) <= 1) &&
        maskIou(other, one) > 0.99,
    );
    if (at < 0) continue;
    partners++;
    candidates.splice(at, 1);
  }
  return partners;
}

function maskIou(a: CocoResult, b: CocoResult): number {
  const [left, right] = [rleOf(a), rleOf(b)];
  return rleArea(left) + rleArea(right) === 0 ? 1 : rleIou(left, right);
}

function rleOf({ segmentation }: CocoResult): Rle {
  if (segmentation?.kind !== 'rle') throw new Error('a detection without run lengths');
  return segmentation.rle;
}

/** The network whose batch norms have the mean and (biased) variance of what the recorded input gives them, one after the other. */
async function exportInTrainingMode(recorded: NpzArchive): Promise<YolactExport> {
  const state = new Map<string, RawTensor>(await readStateDict(join(shared, 'shapes/yolact/yolact-shapes.pth')));
  const { config } = await readYolactShapesConfig();
  const build = (): YolactExport => exportYolact(state, config, { height: 274, width: 274 });
  const count = [...build().model.graph.nodes.values()].filter(node => node.opType === 'BatchNormalization').length;
  for (let index = 0; index < count; index++) {
    const { model } = build();
    const { graph } = model;
    const norm = [...graph.nodes.values()].filter(node => node.opType === 'BatchNormalization')[index];
    const [x, , , mean] = norm?.inputs ?? [];
    if (x === undefined || mean === undefined) throw new Error('a batch norm without inputs');
    graph.outputs.splice(0, graph.outputs.length, x);
    const session = await openSession(encodeModel(model), { optimization: 'disabled' });
    const values = (await session.run({ image: recorded.getFloat32('input') }))[getValue(graph, x).name];
    await session.close();
    if (values?.dtype !== 'float32') throw new Error('no float32 map');
    const module = getValue(graph, mean).name.replace(/\.running_mean$/, '');
    const [, channels = 0] = values.dims;
    const rows = Array.from({ length: channels }, (_, c) => momentsOfRow(values.data, c, values.data.length / channels));
    const put = (leaf: string, data: number[]): void => {
      state.set(`${module}.${leaf}`, encodeRawTensor(makeTensor('float32', [channels], Float32Array.from(data))));
    };
    put(
      'running_mean',
      rows.map(row => row.mean),
    );
    put(
      'running_var',
      rows.map(row => row.variance),
    );
  }
  return build();
}

function momentsOfRow(data: Float32Array, row: number, length: number): { mean: number; variance: number } {
  const values = data.subarray(row * length, (row + 1) * length);
  const mean = values.reduce((sum, value) => sum + value, 0) / length;
  return { mean, variance: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / length };
}

suite('full-size networks with generated weights', () => {
  it.each([
    ['yolact_base', 'yolact'],
    ['yolact_resnet50', 'yolact'],
    ['yolact_darknet53', 'yolact-darknet53'],
  ] as const)('%s at 550×550 gives what the original gives', async (name, defaults) => {
    const recording = await readRecording(name);
    const { config } = parseYolactConfig(undefined, defaults);
    const { model, recipe, ignored } = exportYolact(generatedState(recording.state), config, { height: 550, width: 550 });
    expect(ignored.map(({ key }) => key)).toEqual(['semantic_seg_conv.weight', 'semantic_seg_conv.bias']);
    const session = await openSession(encodeModel(model), { optimization: 'all' });
    const outputs = toOriginal(await session.run({ image: generatedInput('input', [1, 3, 550, 550]) }), recipe);
    await session.close();
    const priors = Float32Array.from(makeHost(recipe, config).priors.flatMap(level => [...level]));
    for (const output of recording.outputs)
      expect([output.name, worstSample(output, { ...outputs, priors })]).toEqual([output.name, expect.closeTo(0, 3)]);
  });

  it.each([
    ['yolact-im400', 400, [50, 25, 13, 7, 4], 10_077],
    ['yolact', 544, [68, 34, 17, 9, 5], 18_525],
    ['yolact', 550, [69, 35, 18, 9, 5], 19_248],
    ['yolact-im700', 700, [88, 44, 22, 11, 6], 30_963],
  ] as [YolactDefaults, number, number[], number][])('%s at %i has levels %j and %i priors', async (defaults, side, sizes, count) => {
    const { config } = parseYolactConfig(undefined, defaults);
    const { recipe } = exportYolact(generatedState((await readRecording('yolact_base')).state), config, { height: side, width: side });
    expect(recipe.levels.map(({ height, width }) => [height, width])).toEqual(sizes.map(size => [size, size]));
    expect(makeHost(recipe, config).priors.reduce((sum, level) => sum + level.length / 4, 0)).toBe(count);
  });
});

const readRecording = async (name: string): Promise<RecordedNetwork> =>
  (await readJsonFile(join(shared, 'fullsize', `${name}.json`))) as unknown as RecordedNetwork;

/** Largest difference of a recorded sample, over the recorded standard deviation; NaN where sizes differ. */
function worstSample({ name, shape, std, every, samples }: RecordedOutput, all: Readonly<Record<string, Float32Array>>): number {
  const data = all[name];
  if (data?.length !== shape.reduce((product, dim) => product * dim, 1)) return Number.NaN;
  return Math.max(...samples.map((sample, index) => Math.abs(sample - (data[index * every] ?? Number.NaN)))) / std;
}
