/** Captured tensors against what torchvision recorded of the same images, and against ONNX's own and a public model's test data. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import { readTensorFile } from '../../../src/onnx/serde/tensor-file.js';
import { type Captured, openCaptured } from '../../../src/runtime/capture/captured.js';
import type { InputPaths } from '../../../src/stage/define-stage.js';
import { compareArrays, momentsOf, standardDeviationOf } from '../../../src/tensor/compare.js';
import { type NpzArchive, readNpz } from '../../../src/tensor/formats/npz.js';
import { capture } from '../../../stages/capture/stage.js';
import { givenFolder, runStage } from '../../support/run-stage.js';
import { SHAPES_FOLDER } from '../../support/shapes.js';
import { writeShapesParts } from '../../support/shapes-parts.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;
const at = (path: string): string => join(shared ?? '', path);
/** Of the recorded tensor's standard deviation: float32 sums in another order, and a proposal that moves with them. */
const TOLERANCE = 1e-3;
const IMAGES = [1000, 1007, 1014];

const folder = givenFolder('captured');

async function run(params: JsonObject, inputs: InputPaths): Promise<Captured> {
  const { outputs } = await runStage(capture, { params, inputs, folder: folder.path });
  return openCaptured(outputs.captured ?? '');
}

async function read(captured: Captured, sample: number, part: string, role: 'input' | 'output', name: string): Promise<Float32Array> {
  const found = captured.index.samples[sample];
  const tensor = found === undefined ? undefined : (await captured.read(found, part, role))[name];
  if (tensor?.dtype !== 'float32') throw new Error(`no ${name}`);
  return tensor.data;
}

suite('tensors captured of the shapes detector', () => {
  let captured: Captured;

  beforeAll(async () => {
    const parts = await writeShapesParts(folder.path);
    const file = JSON.parse(await readFile(parts.val.annotations, 'utf8')) as { images: { id: number }[] };
    const annotations = join(folder.path, 'three.json');
    await writeFile(annotations, JSON.stringify({ images: file.images.filter(({ id }) => IMAGES.includes(id)) }));
    const data = { annotations, images: join(SHAPES_FOLDER, 'data/val') };
    captured = await run(
      { rois: { max: 1000 } },
      { detector: { ...parts.parts }, recipe: parts.recipePath, config: parts.configPath, data },
    );
  });

  describe.each(IMAGES.map((image, sample) => [image, sample]))('image %i', (image, sample) => {
    let recorded: NpzArchive;
    const data = (name: string): Float32Array => recorded.getFloat32(name).data;
    beforeAll(async () => {
      recorded = await readNpz(at(`shapes/maskrcnn/stages_${image}.npz`));
    });

    it('the input and every output of the backbone are within tolerance', async () => {
      const values = captured.index.parts[0]?.values ?? [];
      expect(values).toHaveLength(15);
      for (const { name, role } of values) {
        const reference = data(name === 'image' ? 'input' : name);
        const found = await read(captured, sample, 'backbone', role, name);
        expect([name, errorOf(reference, found) < TOLERANCE]).toEqual([name, true]);
      }
    });

    it.each([
      ['box_head', 'box_features', ['class_logits', 'box_regression'], 0.99],
      ['mask_head', 'mask_features', ['mask_logits'], 1],
    ] as const)('%s has as many RoIs, and at least a share of them see the same and give the same', async (part, input, outputs, share) => {
      const rows = recorded.get(input).dims[0] ?? 0;
      const tensors = captured.index.samples[sample]?.parts[part];
      expect([tensors?.rows, tensors?.seen]).toEqual([rows, rows]);
      const features = rowsOf(await read(captured, sample, part, 'input', input), rows);
      const deviation = standardDeviationOf(momentsOf(data(input)));
      // Two proposals of nearly equal objectness may change places: RoIs are found by what they see.
      const places = rowsOf(data(input), rows).map(row => features.findIndex(own => isNear(row, own, TOLERANCE * deviation)));
      expect(places.filter(place => place >= 0).length).toBeGreaterThanOrEqual(share * rows);
      for (const name of outputs) {
        const found = rowsOf(await read(captured, sample, part, 'output', name), rows);
        const bound = TOLERANCE * standardDeviationOf(momentsOf(data(name)));
        for (const [index, row] of rowsOf(data(name), rows).entries()) {
          const own = found[places[index] ?? -1];
          if (own !== undefined) expect(compareArrays(row, own).maxAbs).toBeLessThan(bound);
        }
      }
    });
  });
});

suite('tensors captured of plain models', () => {
  it('CIFAR ResNet-20: an image becomes the recorded input, and gives the recorded logits', async () => {
    const model = at('models/cifar-resnet20/cifar_resnet20.onnx');
    const preprocess = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] };
    const captured = await run({ of: 'model', samples: 1, preprocess }, { model, images: at('images/cifar10/airplane') });
    const sample = await readNpz(at('models/cifar-resnet20/sample.npz'));
    // Equal formulas, perhaps in another order of float32 operations: a few ULP of values up to 3.
    const input = await read(captured, 0, 'model', 'input', 'input');
    expect(compareArrays(sample.getFloat32('input:input').data, input).maxAbs).toBeLessThan(1e-6);
    const logits = sample.getFloat32('output:logits').data;
    expect(errorOf(logits, await read(captured, 0, 'model', 'output', 'logits'))).toBeLessThan(TOLERANCE);
  });

  it('MobileNetV2: its stored input_0.pb gives its stored output_0.pb', async () => {
    const reference = at('models/mobilenetv2/qdq_reference');
    const captured = await run({ of: 'model' }, { model: join(reference, 'model.onnx'), tensors: reference });
    expect(captured.index.samples.map(({ id }) => id)).toEqual(['test_data_set_0']);
    const { tensor } = await readTensorFile(join(reference, 'test_data_set_0/output_0.pb'));
    const scores = await read(captured, 0, 'model', 'output', captured.index.parts[0]?.values[1]?.name ?? '');
    expect(compareArrays(tensor.data as Float32Array, scores).maxAbs).toBe(0);
  });

  it.each([
    'test_add',
    'test_conv_with_strides_padding',
    'test_softmax_example',
    'test_maxpool_2d_default',
  ])('ONNX backend test %s: inputs give the outputs', async name => {
    const path = at(`conformance/onnx/node/${name}`);
    const captured = await run({ of: 'model' }, { model: join(path, 'model.onnx'), tensors: path });
    const { tensor } = await readTensorFile(join(path, 'test_data_set_0/output_0.pb'));
    const output = captured.index.parts[0]?.values.find(({ role }) => role === 'output')?.name ?? '';
    const found = await read(captured, 0, 'model', 'output', output);
    // The backend tests' own tolerance.
    expect(compareArrays(tensor.data as Float32Array, found).maxAbs).toBeLessThan(1e-5);
  });
});

function errorOf(recorded: Float32Array, found: Float32Array): number {
  return compareArrays(recorded, found).maxAbs / standardDeviationOf(momentsOf(recorded));
}

function rowsOf(data: Float32Array, rows: number): Float32Array[] {
  const size = rows === 0 ? 0 : data.length / rows;
  return Array.from({ length: rows }, (_, row) => data.subarray(row * size, (row + 1) * size));
}

function isNear(a: Float32Array, b: Float32Array, bound: number): boolean {
  return a.every((value, index) => Math.abs(value - (b[index] ?? Number.NaN)) < bound);
}
