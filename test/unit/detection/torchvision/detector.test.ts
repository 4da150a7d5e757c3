import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeImage, type RgbImage } from '../../../../src/detection/image.js';
import { type DetectedObjects, type Detector, detectObjects, prepareImage } from '../../../../src/detection/torchvision/detector.js';
import { type OpenDetector, openDetector } from '../../../../src/detection/torchvision/open-detector.js';
import { collectPartInputs } from '../../../../src/detection/torchvision/part-inputs.js';
import { compareArrays } from '../../../../src/tensor/compare.js';
import { failureOf } from '../../../support/error-code.js';
import { exportShapes, openShapes, readShapesConfig, SHAPES_FOLDER } from '../../../support/shapes.js';

const IMAGE = join(SHAPES_FOLDER, 'data/val/000000001007.jpg');

let detector: OpenDetector;
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
  expect(compareArrays(a.masks.data, b.masks.data).maxAbs).toBeLessThan(1e-3);
}

describe('a detector', () => {
  it.each([7, 64])('with RoI batches fixed at %p finds what it finds with free ones', async roiBatch => {
    const fixed = await openShapes({ roiBatch });
    const found = await detectObjects(fixed, image);
    await fixed.close();
    expect(found.scores.length).toBeGreaterThan(10);
    expectSameObjects(found, await detectObjects(detector, image));
  });

  it('runs no head where nothing is found', async () => {
    const config = { ...detector.config, box: { ...detector.config.box, scoreThreshold: 1 } };
    const parts: string[] = [];
    const strict: Detector = {
      ...detector,
      config,
      run: (part, input) => {
        parts.push(part);
        return detector.run(part, input);
      },
    };
    const found = await detectObjects(strict, image);
    expect(found.scores).toHaveLength(0);
    expect(found.masks.data).toHaveLength(0);
    expect(parts).toEqual(['backbone', 'box_head']);
  });

  it('finds as many objects as the config allows, the best ones', async () => {
    const config = { ...detector.config, box: { ...detector.config.box, detectionsPerImage: 3 } };
    const [all, few] = [await detectObjects(detector, image), await detectObjects({ ...detector, config }, image)];
    expect(few.scores).toEqual(all.scores.slice(0, 3));
  });

  it('refuses an image that torchvision would fit to another size than the model has', async () => {
    const portrait: RgbImage = { width: 90, height: 120, data: new Uint8Array(3 * 90 * 120) };
    const failure = await failureOf(() => prepareImage({ ...detector, fit: 'torchvision' }, portrait));
    expect(failure).toMatchObject({ code: 'input-size', message: expect.stringContaining('becomes 192×256; the model takes 256×192') });
    expect(prepareImage({ ...detector, fit: 'static' }, portrait).resized).toEqual({ height: 192, width: 144 });
  });

  it('refuses a config that the networks were not built for, and models that are not its parts', async () => {
    const { recipe } = await exportShapes();
    const config = { ...(await readShapesConfig()), numClasses: 5, categories: {} };
    const models = { kind: 'whole', model: new Uint8Array(3) } as const;
    expect(await failureOf(() => openDetector({ recipe, config, models }, { optimization: 'all' }))).toMatchObject({
      code: 'config-mismatch',
      message: expect.stringContaining('numClasses is 5, the model was built for 12'),
    });
    expect(await failureOf(() => openDetector({ recipe, config: recipe.config, models }, { optimization: 'all' }))).toMatchObject({
      code: 'model-load',
    });
  });
});

describe('the inputs of the parts', () => {
  it('are the image and the first RoIs, as the detector itself feeds them', async () => {
    const seen = new Map<string, Float32Array>();
    const watched: Detector = {
      ...detector,
      run: (part, input) => {
        seen.set(part, input.data);
        return detector.run(part, input);
      },
    };
    await detectObjects(watched, image);
    const inputs = await collectPartInputs(detector, IMAGE, { box: 50, mask: 8 });
    expect(inputs.box_head.dims).toEqual([50, 32, 7, 7]);
    expect(inputs.mask_head.dims).toEqual([8, 32, 14, 14]);
    expect(inputs.backbone.data).toEqual(seen.get('backbone'));
    expect(inputs.box_head.data).toEqual(seen.get('box_head')?.slice(0, inputs.box_head.data.length));
    expect(inputs.mask_head.data).toEqual(seen.get('mask_head')?.slice(0, inputs.mask_head.data.length));
  });
});
