/** detector.py of a bundle with a single network, with ONNX Runtime's CPU provider, finds what `evaluate` finds: each resize and each decoder. */
import { createHash } from 'node:crypto';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import { parseModelText } from '../../src/onnx/text/parse-text.js';
import { describeWithOnnxRuntime, runProgram } from '../support/board-python.js';
import { givenShapesProject, type ShapesProject } from '../support/shapes-project.js';

const IMAGES = 3;

/** Weights of a 1×1 convolution from three colors, all different. */
const weights = (channels: number): string =>
  Array.from({ length: 3 * channels }, (_, index) => (((index * 37) % 41) / 20 - 1).toFixed(2)).join(', ');

/** 24 cells of 8×8 pixels, whose boxes, scores and masks follow from their mean colors. */
const MODEL = `
agraph (float[1, 3, 32, 48] image) => (float[1, 24, 7] rows, float[1, 8, 4, 6] sides, float[1, 4, 4, 6] deltas, float[1, 3, 4, 6] logits, float[24] score, float[24, 4] box, float[24] label, float[24, 3, 2, 2] masks, float[1, 14, 4, 6] raw, float[11, 24] both, float[24, 6] chosen, float[1, 2, 4, 6] size, float[1, 2, 4, 6] offset, float[1, 1, 4, 6] center, float[1, 17, 4, 6] extra, float[1, 4, 8, 12] prototypes)
<float[7, 3, 1, 1] w = {0.4, 0.1, -0.2, -0.3, 0.2, 0.5, 0.1, 0.6, 0.2, 0.3, -0.4, 0.2, 0.9, -0.7, 0.4, 0.8, 0.3, -0.5, -0.6, 0.2, 1.1}, float[7] b = {0.1, 0.2, 0.3, 0.2, 0.1, 0, 0.1},
 float[8, 3, 1, 1] v = {0.3, 0.2, 0.1, -0.1, 0.4, 0.2, 0.6, -0.2, 0.1, 0.2, 0.3, 0.3, 0.5, 0.1, -0.4, 0.2, 0.2, 0.6, -0.3, 0.4, 0.1, 0.7, 0.1, -0.2},
 float[4, 3, 1, 1] t = {0.1, 0.4, -0.2, 0.3, 0.1, 0.2, 0.2, 0.3, 0.1, 0.5, -0.1, 0.2}, float[4, 3, 1, 1] c = {9, 2, 4, 3, 8, -5, 6, -7, 9, 5, 2, 4}, float[4] d = {2, 1, 30, 20},
 float[3, 3, 1, 1] u = {1.5, -0.5, 0.2, -0.4, 1.8, 0.3, 0.2, -0.6, 1.4}, float[12, 3, 1, 1] m = {1, 2, -3, 2, -1, 3, -1, 1, 1, 2, 1, -2, -3, 2, 2, 1, 1, -1, 3, 1, -2, -1, -2, 3, 1, 3, -3, 2, 2, -4, -2, 3, 1, 1, -1, 2},
 float[14, 3, 1, 1] anchor = {${weights(14)}}, float[17, 3, 1, 1] e = {${weights(17)}}, float[4, 3, 1, 1] p = {2, -5, 3, -3, 1, 2, 4, -2, -2, -1, 3, -2}, float[2, 3, 1, 1] s = {4, 2, 1, 1, 3, 2}, float[2, 3, 1, 1] o = {0.3, 0.2, 0.1, 0.1, 0.2, 0.4}, int64[2] eleven = {11, 24}, int64[1] one = {1}, int64[1] origin = {0}, int64[1] second = {1}, int64[1] axis = {1},
 int64[3] shape = {1, 7, 24}, int64[3] first = {0, 0, 4}, int64[3] last = {1, 24, 5}, int64[1] list = {24}, int64[2] four = {4, 24}, int64[2] three = {3, 24}, int64[4] grid = {3, 2, 2, 24}>
{
  cells = AveragePool<kernel_shape = [8, 8], strides = [8, 8]>(image)
  maps = Conv(cells, w, b)
  flat = Reshape(maps, shape)
  rows = Transpose<perm = [0, 2, 1]>(flat)
  sides = Conv(cells, v)
  deltas = Conv(cells, t)
  logits = Conv(cells, u)
  objectness = Slice(rows, first, last)
  score = Reshape(objectness, list)
  corners = Conv(cells, c, d)
  columns = Reshape(corners, four)
  box = Transpose<perm = [1, 0]>(columns)
  classes = Reshape(logits, three)
  best = ArgMax<axis = 0, keepdims = 0>(classes)
  label = Cast<to = 1>(best)
  squares = Conv(cells, m)
  stacked = Reshape(squares, grid)
  turned = Transpose<perm = [3, 0, 1, 2]>(stacked)
  masks = Sigmoid(turned)
  raw = Conv(cells, anchor)
  pair = Concat<axis = 1>(logits, sides)
  both = Reshape(pair, eleven)
  scoreColumn = Unsqueeze(score, one)
  labelColumn = Unsqueeze(label, one)
  chosen = Concat<axis = 1>(box, scoreColumn, labelColumn)
  size = Conv(cells, s)
  offset = Conv(cells, o)
  center = Slice(logits, origin, second, axis)
  extra = Conv(cells, e)
  quarters = AveragePool<kernel_shape = [4, 4], strides = [4, 4]>(image)
  prototypes = Conv(quarters, p)
}`;

const CATEGORIES = '[{id: 4, name: a}, {id: 7, name: b}]';
const THREE = '[{id: 1, name: a}, {id: 2, name: b}, {id: 9, name: c}]';
const GRID =
  'grid: {output: rows, boxes: {form: exp}, strides: [8], objectness: {channel: 4, activation: sigmoid, power: 0.5}, classes: {channel: 5, activation: sigmoid}}';

interface Variant {
  readonly preprocess: string;
  readonly decoder: string;
  readonly more?: string;
}

const VARIANTS: Readonly<Record<string, Variant>> = {
  pad: {
    preprocess:
      '{colors: bgr, range: 0..255, mean: [99, 110, 120], std: [60, 61, 62], resize: pad, place: center, fill: [114, 0, 7], antialias: true, rounding: bytes}',
    decoder: GRID,
  },
  crop: {
    preprocess: '{resize: crop, filter: cubic, rounding: bytes, sizes: nearest}',
    decoder: 'grid: {output: rows, boxes: {form: bounded}, strides: [8], classes: {channel: 4}}',
    more: `categories: ${THREE}, labels: all, nmsClasses: together, clip: none`,
  },
  area: {
    preprocess: '{resize: stretch, filter: area}',
    decoder: 'distances: {levels: [{stride: 8, scores: logits, distances: sides}], bins: 2, activation: sigmoid}',
    more: `categories: ${THREE}`,
  },
  cubic: {
    preprocess: '{resize: stretch, filter: cubic, antialias: true}',
    decoder:
      'priors: {scores: logits, boxes: deltas, activation: softmax, background: true, levels: [{columns: 6, rows: 4, sizes: [[12, 16]]}]}',
  },
  opencv: {
    preprocess: '{resize: stretch, rounding: bytes}',
    decoder: 'boxes: {scores: logits, boxes: deltas, form: center, unit: fractions, activation: softmax, background: true}',
    more: 'nms: none, perImage: 7',
  },
  anchors: {
    preprocess: '{resize: stretch}',
    decoder: 'anchors: {form: square, levels: [{stride: 8, output: raw, anchors: [[10, 14], [20, 12]]}]}',
  },
  'anchors of YOLO v3': {
    preprocess: '{resize: stretch}',
    decoder: 'anchors: {form: exp, levels: [{stride: 8, output: raw, anchors: [[10, 14], [20, 12]]}]}',
    more: `categories: ${CATEGORIES}, labels: all`,
  },
  joined: {
    preprocess: '{resize: stretch}',
    decoder: 'joined: {output: both, strides: [8], bins: 2, center: 0, activation: sigmoid}',
    more: `categories: ${THREE}`,
  },
  'selected rows': {
    preprocess: '{resize: stretch}',
    decoder: 'selected: {output: chosen}',
    more: `categories: ${THREE}, scoreThreshold: 0.01`,
  },
  heatmap: {
    preprocess: '{resize: stretch}',
    decoder: 'heatmap: {stride: 8, scores: logits, sizes: size, offsets: offset, activation: sigmoid}',
    more: `categories: ${THREE}, labels: all`,
  },
  offsets: {
    preprocess: '{resize: stretch}',
    decoder: 'offsets: {levels: [{stride: 8, scores: logits, boxes: deltas, anchors: [[12, 16]]}], activation: sigmoid, center: 0.5}',
    more: `categories: ${THREE}`,
  },
  centerness: {
    preprocess: '{resize: stretch}',
    decoder: 'distances: {levels: [{stride: 8, scores: logits, distances: deltas, centers: center}], activation: sigmoid}',
    more: `categories: ${THREE}`,
  },
  'masks of YOLO': {
    preprocess: '{resize: pad, place: center, fill: 114}',
    decoder:
      'grid: {output: extra, boxes: {form: exp}, strides: [8], classes: {channel: 4, activation: sigmoid}, masks: {prototypes: prototypes, channel: 13, count: 4, threshold: 0.6}}',
    more: `categories: ${THREE}, labels: all`,
  },
  'keypoints of YOLO': {
    preprocess: '{resize: pad, fill: 114}',
    decoder:
      'grid: {output: extra, boxes: {form: exp}, strides: [8], classes: {channel: 4, activation: sigmoid}, keypoints: {channel: 11, count: 2, activation: sigmoid}}',
    more: `categories: ${THREE}`,
  },
  selected: {
    preprocess: '{resize: stretch}',
    decoder:
      'detections: {scores: score, boxes: box, classes: label, firstClass: 0, corners: inclusive, masks: {output: masks, threshold: 0.55}}',
    more: `categories: ${THREE}, scoreThreshold: 0.01`,
  },
};

let project: ShapesProject;
beforeAll(async () => {
  project = givenShapesProject(IMAGES);
  await writeModel(project.path('model.onnx'), parseModelText(MODEL));
  writeFileSync(project.path('single.yaml'), pipelineOf(Object.entries(VARIANTS)));
});
afterAll(() => project.remove());

const idOf = (name: string): string => name.replaceAll(' ', '-');

/** Each network in float, on the CPU of the bundle. */
function pipelineOf(variants: readonly (readonly [string, Variant])[]): string {
  const data = 'examples/shapes/data';
  return `
version: 1
sources: {model: model.onnx, val: {annotations: ${data}/instances_val.json, images: ${data}/val}}
stages:
${variants
  .map(
    ([name, { preprocess, decoder, more = `categories: ${CATEGORIES}` }]) => `
  ${idOf(name)}: {uses: describe, with: {preprocess: ${preprocess}, decoder: {${decoder}}, ${more.includes('categories') ? more : `categories: ${CATEGORIES}, ${more}`}}, inputs: {model: "\${sources.model}"}}
  ${idOf(name)}-board: {uses: compile, with: {target: ryzen-ai, place: {model: cpu}, golden: 0}, inputs: {models: {model: "\${sources.model}"}, recipe: ${idOf(name)}.recipe}}
  ${idOf(name)}-here: {uses: evaluate, with: {samples: ${IMAGES}${decoder.includes('masks') ? '' : ', iouTypes: [bbox]'}}, inputs: {parts: {model: "\${sources.model}"}, recipe: ${idOf(name)}.recipe, data: "\${sources.val}"}}
`,
  )
  .join('')}`;
}

/** torchvision's own export of the example's Mask R-CNN. */
const WHOLE = `
version: 1
sources:
  model: examples/shapes/models/maskrcnn-shapes-torchvision.onnx
  calib: {annotations: examples/shapes/data/instances_calib.json, images: examples/shapes/data/calib}
  val: {annotations: examples/shapes/data/instances_val.json, images: examples/shapes/data/val}
stages:
  import: {uses: import, with: {unbatched: batch}, inputs: {model: "\${sources.model}"}}
  parts: {uses: split, with: {cuts: static, prepare: model, heads: [box]}, inputs: {model: import.model}}
  detector:
    uses: describe
    with:
      preprocess: {resize: stretch}
      decoder: {detections: {boxes: boxes, scores: scores, classes: labels}}
      categories: [${Array.from({ length: 12 }, (_, id) => `{id: ${id}, name: c${id}}`).join(', ')}]
    inputs: {model: parts.network, prepare: parts.prepare, heads: {to_box: parts.to_box, box: parts.box}, rest: parts.rest}
  calibrate:
    foreach: {model: network, box: box}
    uses: calibrate
    with: {samples: 4}
    inputs:
      model: "parts.\${item}"
      recipe: detector.recipe
      data: "\${sources.calib}"
      detector: {prepare: parts.prepare, model: parts.network, to_box: parts.to_box, box: parts.box, rest: parts.rest}
  quantize:
    foreach: {model: network, box: box}
    uses: quantize
    with: {preset: a8w8}
    inputs: {model: "parts.\${item}", sketches: "calibrate@\${key}.sketches"}
  int8:
    uses: evaluate
    with: {samples: ${IMAGES}, iouTypes: [bbox]}
    inputs:
      parts: &parts {prepare: parts.prepare, model: quantize@model.model, to_box: parts.to_box, box: quantize@box.model, rest: parts.rest}
      recipe: detector.recipe
      data: "\${sources.val}"
  compile:
    uses: compile
    with: {target: ryzen-ai, dtype: a8w8, place: {prepare: cpu, to_box: cpu, rest: cpu}, pin: {box_rois: 1}}
    inputs: {models: *parts, recipe: detector.recipe}
`;

interface Found {
  readonly image_id: number;
  readonly category_id: number;
  readonly bbox: readonly number[];
  readonly score: number;
  readonly segmentation?: object;
  readonly keypoints?: readonly number[];
}

const readJson = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T;

/** Boxes and keypoints within a thousandth of a pixel and scores within 1e-5: both sides round to float32 at other places. */
function compareResults(found: readonly Found[], expected: readonly Found[]): void {
  expect(found.length).toBeGreaterThan(5);
  expect(new Set(found.map(({ score }) => score)).size).toBeGreaterThan(5);
  const kindsOf = (some: readonly Found[]) => some.map(({ image_id, category_id, segmentation }) => [image_id, category_id, segmentation]);
  expect(kindsOf(found)).toEqual(kindsOf(expected));
  for (const [index, { bbox, score, keypoints = [] }] of found.entries()) {
    const other = expected[index];
    expect(bbox.every((side, at) => Math.abs(side - (other?.bbox[at] ?? Number.NaN)) < 1e-3)).toBe(true);
    expect(keypoints.length).toBe(other?.keypoints?.length ?? 0);
    expect(keypoints.every((side, at) => Math.abs(side - (other?.keypoints?.[at] ?? Number.NaN)) < 1e-3)).toBe(true);
    expect(Math.abs(score - (other?.score ?? Number.NaN))).toBeLessThan(1e-5);
  }
}

describeWithOnnxRuntime('detector.py with a single network', () => {
  const detect = (bundle: string, ...more: readonly string[]) => {
    const data = [
      '--annotations',
      project.path('examples/shapes/data/instances_val.json'),
      '--images',
      project.path('examples/shapes/data/val'),
    ];
    const args = ['evaluate', ...data, '--provider', 'CPUExecutionProvider', '--warm-up', '0', '--samples', String(IMAGES), ...more];
    return runProgram(bundle, 'detector.py', args);
  };

  it.each(Object.keys(VARIANTS))('finds the same objects: %s', name => {
    const built = project.build('-f', 'single.yaml', `${idOf(name)}-board`, `${idOf(name)}-here`);
    expect([built.exitCode, built.exitCode === 0 ? '' : built.text]).toEqual([0, '']);
    const artifact = (stage: string, port: string): string => project.path(built.stages.get(stage)?.artifacts[port] ?? '');
    const results = project.path(`${idOf(name)}.json`);
    const { exitCode, stderr } = detect(
      artifact(`${idOf(name)}-board`, 'bundle'),
      '--results',
      results,
      '--overlays',
      project.path('overlays'),
    );
    expect([exitCode, exitCode === 0 ? '' : stderr]).toEqual([0, '']);
    const found = readJson<Found[]>(results);
    compareResults(found, readJson<Found[]>(artifact(`${idOf(name)}-here`, 'detections')));
    // Not all masks are empty or full, and points exist where the variant has them.
    if (name.startsWith('masks')) expect(new Set(found.map(({ segmentation }) => JSON.stringify(segmentation))).size).toBeGreaterThan(5);
    if (name.startsWith('keypoints')) expect(found.every(({ keypoints = [] }) => keypoints.length === 6)).toBe(true);
  });

  it('runs a whole detector of two stages: its int8 network and head, and the models of the host between them', () => {
    writeFileSync(project.path('whole.yaml'), WHOLE);
    const built = project.build('-f', 'whole.yaml');
    expect([built.exitCode, built.exitCode === 0 ? '' : built.text]).toEqual([0, '']);
    const artifact = (stage: string, port: string): string => project.path(built.stages.get(stage)?.artifacts[port] ?? '');
    const results = project.path('whole.json');
    const { exitCode, stderr } = detect(artifact('compile', 'bundle'), '--results', results);
    expect([exitCode, exitCode === 0 ? '' : stderr]).toEqual([0, '']);
    compareResults(readJson<Found[]>(results), readJson<Found[]>(artifact('int8', 'detections')));
  });

  it.each([
    [
      "a decoder of one's own",
      { decoder: { kind: 'module', name: 'mine', source: '', outputs: [] } },
      "this program has no decoder 'module', only grid, distances,",
    ],
    ['a free size', { image: { value: 'image', height: 'free', width: 48 } }, 'the recipe has a free size of the input'],
    [
      'another family',
      { architecture: 'centernet' },
      "this program has no host for 'centernet', only for maskrcnn, maskscoring, single, yolact",
    ],
  ] as const)('refuses %s, and says what it runs', (_, recipe, message) => {
    const bundle = project.path('changed');
    cpSync(project.path(project.build('-f', 'single.yaml', 'pad-board').stages.get('pad-board')?.artifacts.bundle ?? ''), bundle, {
      recursive: true,
    });
    const path = join(bundle, 'detector.json');
    const definition = readJson<{ readonly recipe: object }>(path);
    const text = JSON.stringify({ ...definition, recipe: { ...definition.recipe, ...recipe } });
    writeFileSync(path, text);
    const manifest = readJson<{ readonly files: object }>(join(bundle, 'manifest.json'));
    const files = { ...manifest.files, 'detector.json': createHash('sha256').update(text).digest('hex') };
    writeFileSync(join(bundle, 'manifest.json'), JSON.stringify({ ...manifest, files }));
    const { exitCode, stderr } = detect(bundle);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain(`error[unsupported-detector]: ${message}`);
  });
});
