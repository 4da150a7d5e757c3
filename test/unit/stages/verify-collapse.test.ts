/** Collapsed candidates of verify: outputs of noise, constants, scores hidden by boxes, and detections that are not found. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import type { JsonObject } from '../../../src/base/json.js';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { readJsonFile, writeJsonFile } from '../../../src/stage/json-file.js';
import { describe as describeStage } from '../../../stages/describe/stage.js';
import { verify } from '../../../stages/verify/stage.js';
import { failureOf } from '../../support/error-code.js';
import { givenFolder, runStage } from '../../support/run-stage.js';

const ROWS = 24;

/** Boxes of hundreds of pixels side by side, each with the mean of red as its score; `scores` are the factors and offsets of the scores. */
const detector = ({ factor = 1, offset = 0 }) => `
agraph (float[1, 3, 8, 8] image) => (float[1, ${ROWS}, 5] rows)
  <float[1, ${ROWS}, 4] boxes = {${Array.from({ length: ROWS }, (_, row) => [400 * row, 0, 400 * row + 400, 400 + row]).join(', ')}},
   float[1, ${ROWS}, 1] ramp = {${Array.from({ length: ROWS }, (_, row) => (1 + row / ROWS) / 2).join(', ')}},
   float factor = {${factor}}, float offset = {${offset}}, int64[1] axis = {1}, int64[3] first = {0, 0, 0}, int64[3] one = {1, 1, 1}>
{
  means = ReduceMean<axes = [2, 3], keepdims = 0>(image)
  wide = Unsqueeze(means, axis)
  red = Slice(wide, first, one)
  plain = Mul(red, ramp)
  scaled = Mul(plain, factor)
  scores = Add(scaled, offset)
  rows = Concat<axis = 2>(boxes, scores)
}`;

/** The detector's rows with scores above `limit`: their number depends on the data. */
const selecting = (limit: number): string =>
  detector({})
    .replace(`float[1, ${ROWS}, 5] rows)`, 'float[1, K, 5] rows)')
    .replace('rows = Concat', 'all = Concat')
    .replace('float factor', `float limit = {${limit}}, int64[1] flat = {-1}, float factor`)
    .replace(
      /\}$/,
      `  line = Reshape(scores, flat)
  above = Greater(line, limit)
  places = NonZero(above)
  index = Reshape(places, flat)
  rows = Gather<axis = 1>(all, index)
}`,
    );

const folder = givenFolder('verify-collapse');
let shared: Readonly<Record<string, string | Readonly<Record<string, string>>>>;

beforeAll(async () => {
  const [model, images, annotations] = ['model.onnx', 'images', 'instances.json'].map(name => join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  await writeModel(model, parseModelText(detector({})));
  await mkdir(images);
  const colors = ['#ff0000', '#c00000'];
  for (const [index, background] of colors.entries())
    await sharp({ create: { width: 8, height: 8, channels: 3, background } })
      .png()
      .toFile(join(images, `${index}.png`));
  await writeJsonFile(annotations, {
    images: colors.map((_, index) => ({ id: index + 1, file_name: `${index}.png`, width: 8, height: 8 })),
    categories: [],
    annotations: [],
  });
  const { outputs } = await runStage(describeStage, {
    params: {
      preprocess: { resize: 'stretch' },
      decoder: { grid: { output: 'rows', boxes: { form: 'corners' }, classes: { channel: 4 } } },
      categories: [{ id: 5, name: 'thing' }],
      clip: 'none',
    },
    inputs: { model },
    folder: folder.path,
  });
  shared = { reference: { model }, recipe: outputs.recipe ?? '', data: { annotations, images } };
});

async function run(scores: Parameters<typeof detector>[0], thresholds: JsonObject = {}): Promise<JsonObject> {
  return runModels(undefined, detector(scores), { thresholds });
}

async function runModels(reference: string | undefined, candidate: string, params: JsonObject): Promise<JsonObject> {
  const [left, right] = [join(folder.path, 'reference.onnx'), join(folder.path, 'candidate.onnx')];
  if (reference !== undefined) await writeModel(left, parseModelText(reference));
  await writeModel(right, parseModelText(candidate));
  const { outputs } = await runStage(verify, {
    params: { samples: 2, ...params },
    inputs: { ...shared, ...(reference === undefined ? {} : { reference: { model: left } }), candidate: { model: right } } as never,
    folder: folder.path,
  });
  return (await readJsonFile(outputs.metrics ?? '')) as JsonObject;
}

describe('verify', () => {
  it('compares the kinds of numbers of one output each by itself', async () => {
    const metrics = await run({ factor: 0.9 });
    expect(Object.keys(metrics.values as JsonObject)).toEqual(['rows', 'rows/boxes', 'rows/classes']);
    expect(metrics).toMatchObject({
      values: {
        rows: { cosine: expect.closeTo(1, 6) },
        'rows/boxes': { sqnrDb: 'equal' },
        'rows/classes': { sqnrDb: expect.closeTo(20, 3) },
      },
    });
  });

  it('fails if the scores are lost, although the cosine of the whole output is 1', async () => {
    const failure = await failureOf(() => run({ factor: -0.5 }));
    expect(failure).toMatchObject({
      code: 'verify-collapsed',
      message: expect.stringContaining('rows/classes: SQNR -3.52183 dB, below 5 dB'),
    });
    const allowed = await run({ factor: -0.5 }, { minSqnrDb: -10, maxMissed: 1 });
    expect(allowed).toMatchObject({ values: { rows: { cosine: expect.closeTo(1, 5) } } });
  });

  it('fails if an output or a kind of number is constant', async () => {
    const failure = await failureOf(() => run({ factor: 0, offset: 0.5 }, { minSqnrDb: -100, maxMissed: 1 }));
    expect(failure).toMatchObject({
      code: 'verify-collapsed',
      message: 'the candidate has collapsed on 2 images: rows/classes: all elements are 0.5, those of the reference differ',
    });
  });

  it('fails if fewer than a tenth of at least 20 detections are matched', async () => {
    const failure = await failureOf(() => run({ factor: 0.0001 }, { minSqnrDb: -100 }));
    expect(failure).toMatchObject({
      code: 'verify-collapsed',
      message: expect.stringMatching(/detections: 0 of \d\d matched, fewer than a tenth$/),
    });
  });

  it('accepts what a stated threshold allows', async () => {
    expect(await run({ factor: 0.0001 }, { minSqnrDb: { 'rows/classes': -1, default: 20 }, maxMissed: 1 })).toMatchObject({
      detections: { matched: 0 },
    });
  });

  it('compares the kinds of numbers in rows that each side selects with equal rows', async () => {
    for (const selection of ['own', 'reference']) {
      const metrics = await runModels(selecting(0.55), selecting(0.6), { selection });
      expect(metrics).toMatchObject({
        values: { rows: { sqnrDb: 'equal' }, 'rows/boxes': { sqnrDb: 'equal' }, 'rows/classes': { sqnrDb: 'equal' } },
        selected: { values: { 'rows/boxes': { sqnrDb: 'equal' } } },
      });
    }
  });

  it('judges a kind of number by thresholds, as outputs', async () => {
    const failure = await failureOf(() => run({ factor: 0.9 }, { minSqnrDb: 30 }));
    expect(failure).toMatchObject({
      code: 'verify-missed',
      message: expect.stringContaining('rows/classes: SQNR in dB 20, expected at least 30'),
    });
  });
});
