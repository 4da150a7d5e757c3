/** A Mask R-CNN detector with fixed and free RoI batches, and the inputs of its parts. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '../../../../../src/base/json.js';
import type { DetectedObjects, Detector } from '../../../../../src/detection/detector/detector.js';
import { collectPartInputs } from '../../../../../src/detection/detector/part-inputs.js';
import { prepareImage } from '../../../../../src/detection/families/maskrcnn/prepare-image.js';
import { decodeImage, type RgbImage } from '../../../../../src/detection/image/decode-image.js';
import { openDetector } from '../../../../../src/detection/open-detector.js';
import { readDefinition } from '../../../../../src/detection/read-definition.js';
import { openSession } from '../../../../../src/runtime/session/session.js';
import { compareArrays } from '../../../../../src/tensor/compare.js';
import { failureOf } from '../../../../support/error-code.js';
import { exportShapes, openShapes, readShapesConfig, SHAPES_FOLDER } from '../../../../support/shapes.js';

const IMAGE = join(SHAPES_FOLDER, 'data/val/000000001007.jpg');

let detector: Detector;
let image: RgbImage;

beforeAll(async () => {
  detector = await openShapes();
  image = await decodeImage(await readFile(IMAGE), 'image');
});
afterAll(() => detector.close());

function expectSameObjects(a: DetectedObjects, b: DetectedObjects): void {
  expect([...a.labels]).toEqual([...b.labels]);
  // Another batch size may take another kernel: the last bits differ.
  expect(compareArrays(a.scores, b.scores).maxAbs).toBeLessThan(1e-5);
  expect(compareArrays(a.boxes, b.boxes).maxAbs).toBeLessThan(1e-3);
  expect(compareArrays(maskValues(a), maskValues(b)).maxAbs).toBeLessThan(1e-3);
}

function maskValues({ masks }: DetectedObjects): Float32Array {
  if (masks.kind !== 'squares') throw new Error(`the masks are ${masks.kind}`);
  return masks.data;
}

describe('a detector', () => {
  it.each([7, 64])('with RoI batches fixed at %p gives the same detections as with free ones', async roiBatch => {
    const fixed = await openShapes({ roiBatch });
    const found = (await fixed.trace(image)).objects;
    await fixed.close();
    expect(found.scores.length).toBeGreaterThan(10);
    expectSameObjects(found, (await detector.trace(image)).objects);
  });

  it('runs no head if there are no proposals', async () => {
    const config = await readShapesConfig();
    const outputs: string[] = [];
    const strict = await openShapes({
      config: { ...config, box: { ...config.box, scoreThreshold: 1 } },
      openModel: async (model, options) => {
        const session = await openSession(model, options);
        return {
          ...session,
          run(feeds, names) {
            outputs.push(names?.at(-1) ?? '');
            return session.run(feeds, names);
          },
        };
      },
    });
    const { objects } = await strict.trace(image);
    await strict.close();
    expect(objects.scores).toHaveLength(0);
    expect(maskValues(objects)).toHaveLength(0);
    expect(outputs).toEqual(['rpn_deltas_4', 'box_regression']);
  });

  it('keeps the best objects up to the limit of the config', async () => {
    const config = await readShapesConfig();
    const short = await openShapes({ config: { ...config, box: { ...config.box, detectionsPerImage: 3 } } });
    const [all, few] = [await detector.trace(image), await short.trace(image)];
    await short.close();
    expect(few.objects.scores).toEqual(all.objects.scores.slice(0, 3));
  });

  it('refuses an image that torchvision would fit to another size than the model has', async () => {
    const portrait: RgbImage = { width: 90, height: 120, data: new Uint8Array(3 * 90 * 120) };
    const { recipe } = await exportShapes();
    const { config } = recipe;
    const failure = await failureOf(() => prepareImage({ recipe, config, fit: 'torchvision' }, portrait));
    expect(failure).toMatchObject({
      code: 'input-size',
      message: expect.stringContaining('is fitted to 192×256, but the model takes 256×192'),
    });
    expect(prepareImage({ recipe, config, fit: 'static' }, portrait).resized).toEqual({ height: 192, width: 144 });
  });

  it('refuses a config that the networks were not built for, and models that are not its parts', async () => {
    const recipe = (await exportShapes()).recipe;
    const config = { ...(await readShapesConfig()), numClasses: 5, categories: {} } as unknown as Json;
    expect(await failureOf(() => readDefinition({ recipe, config }))).toMatchObject({
      code: 'config-mismatch',
      message: expect.stringContaining('numClasses is 5, the model was built for 12'),
    });
    const definition = readDefinition({ recipe });
    const open = (parts: Record<string, Uint8Array>) =>
      openDetector({ definition, models: { kind: 'parts', parts } }, { optimization: 'all' });
    const bytes = new Uint8Array(3);
    expect(await failureOf(() => open({ backbone: bytes, box_head: bytes, mask_head: bytes }))).toMatchObject({ code: 'model-load' });
    expect(await failureOf(() => open({ backbone: bytes, head: bytes }))).toMatchObject({
      code: 'part-missing',
      message: 'the models do not match the host recipe: no model is given for box_head, mask_head; the recipe has no part head',
    });
  });
});

describe('the inputs of the parts', () => {
  it('are the image and the first RoIs, equal to those of a run of the detector', async () => {
    const { inputs: whole } = await detector.trace(image);
    const inputs = await collectPartInputs(detector, IMAGE, part => (part === 'mask_head' ? 8 : 50));
    const findValue = (from: typeof whole, part: string, name: string) => from[part]?.[name] ?? { dims: [], data: new Float32Array(0) };
    for (const [part, name, dims] of [
      ['backbone', 'image', [1, 3, 192, 256]],
      ['box_head', 'box_features', [50, 32, 7, 7]],
      ['mask_head', 'mask_features', [8, 32, 14, 14]],
    ] as const) {
      const { dims: found, data } = findValue(inputs, part, name);
      expect(found).toEqual(dims);
      expect(data).toEqual(findValue(whole, part, name).data.slice(0, data.length));
    }
  });
});
