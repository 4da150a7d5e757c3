/** torchvision's plain Mask R-CNN (frozen batch norms, two fully connected layers) as its exporter writes it with operator set 11 and free height and width. Oracle: what torchvision computed in between, at the size that was traced and at another one. */

import { join } from 'node:path';
import type { DetectorConfig } from '../../../src/detection/families/maskrcnn/config.js';
import { MASKRCNN_SUBGRAPHS } from '../../../src/detection/families/maskrcnn/part-names.js';
import { fitImage } from '../../../src/detection/image/fit-image.js';
import { openSession } from '../../../src/runtime/session/session.js';
import { readJsonFile, writeJsonFile } from '../../../src/stage/json-file.js';
import { type NpzArchive, readNpz } from '../../../src/tensor/formats/npz.js';
import type { Tensor } from '../../../src/tensor/tensor.js';
import { importStage } from '../../../stages/import/stage.js';
import { split } from '../../../stages/split/stage.js';
import { PART_OUTPUTS, relativeError } from '../../support/detector-parts.js';
import { failureOf } from '../../support/error-code.js';
import { fixturePath } from '../../support/fixtures.js';
import { maxDifference } from '../../support/max-difference.js';
import { givenFolder, runStage } from '../../support/run-stage.js';

const CONFIG: DetectorConfig = {
  input: { minSize: 64, maxSize: 96, mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225], sizeDivisible: 32 },
  anchors: { sizes: [[8], [16], [32], [48], [64]], aspectRatios: [0.5, 1, 2] },
  rpn: { preNmsTopN: 60, postNmsTopN: 30, nmsThreshold: 0.7, scoreThreshold: 0 },
  box: {
    scoreThreshold: 0.05,
    nmsThreshold: 0.5,
    detectionsPerImage: 10,
    roiSize: 7,
    samplingRatio: 2,
    regressionWeights: [10, 10, 5, 5],
  },
  mask: { roiSize: 14, samplingRatio: 2, threshold: 0.5 },
  numClasses: 5,
  categories: { 1: 'a', 2: 'b', 3: 'c', 4: 'd' },
};
const SIZES = [
  ['the traced size', 'traced', 75, 100],
  ['another size, portrait', 'other', 120, 90],
] as const;

const model = fixturePath('detection', 'torchvision-v1.onnx');
const folder = givenFolder('torchvision-v1');
let recorded: NpzArchive;
let config: string;
beforeAll(async () => {
  recorded = await readNpz(fixturePath('detection', 'torchvision-v1.npz'));
  config = join(folder.path, 'config.json');
  await writeJsonFile(config, CONFIG as never);
});

async function takePieces(height: number, width: number): Promise<Readonly<Record<string, string>>> {
  const params = { samples: 0, shapes: { photo: [3, height, width] } };
  const imported = await runStage(importStage, { params, inputs: { model }, folder: folder.path });
  const inputs = { model: imported.outputs.model, config };
  const { outputs } = await runStage(split, {
    params: { recipe: 'maskrcnn', cuts: 'structure', between: 'models', fit: 'torchvision' },
    inputs,
    folder: folder.path,
  });
  return outputs;
}

/** Runs all pieces. Values in `given` replace outputs of earlier pieces. */
async function runPieces(
  outputs: Readonly<Record<string, string>>,
  image: Tensor,
  given: Readonly<Record<string, Tensor>>,
): Promise<Readonly<Record<string, Tensor>>> {
  const known: Record<string, Tensor> = { image };
  for (const piece of MASKRCNN_SUBGRAPHS) {
    const session = await openSession(outputs[piece] ?? '', { optimization: 'basic' });
    const feeds = session.inputNames.map((name): [string, Tensor] => [name, given[name] ?? (known[name] as Tensor)]);
    Object.assign(known, await session.run(Object.fromEntries(feeds)));
    await session.close();
  }
  return known;
}

describe.each(SIZES)('pinned to %s', (_, tag, height, width) => {
  const of = (name: string): string => `${tag}_${name}`;
  let outputs: Readonly<Record<string, string>>;
  beforeAll(async () => {
    outputs = await takePieces(height, width);
  });

  it('the recipe has the size to which torchvision resizes the photograph', async () => {
    const [, , padded, across] = recorded.getFloat32(of('image')).dims;
    expect(await readJsonFile(outputs.recipe ?? '')).toMatchObject({ image: { height: padded, width: across, fit: 'torchvision' } });
  });

  it('the parts compute torchvision’s values, within 1e-4 of their standard deviation', async () => {
    const has = new Set(recorded.names);
    const inputs = ['box_features', 'mask_features'].filter(name => has.has(of(name)));
    const given = Object.fromEntries(inputs.map(name => [name, recorded.getFloat32(of(name))]));
    const found = await runPieces(outputs, recorded.getFloat32(of('image')), given);
    const compared = PART_OUTPUTS.filter(name => has.has(of(name)));
    for (const name of compared) {
      const wanted = recorded.getFloat32(of(name));
      expect([name, found[name]?.dims]).toEqual([name, wanted.dims]);
      expect(relativeError(wanted.data, found[name]?.data as Float32Array)).toBeLessThan(1e-4);
    }
    expect(compared.length).toBe(tag === 'other' ? PART_OUTPUTS.length : PART_OUTPUTS.length - 1);
  });

  it('the pieces find torchvision’s detections in a photograph prepared by our host', async () => {
    const photo = recorded.getFloat32(of('photo'));
    const data = Uint8Array.from({ length: photo.data.length }, (__, index) =>
      Math.round((photo.data[(index % 3) * height * width + Math.trunc(index / 3)] ?? 0) * 255),
    );
    const { minSize, maxSize, sizeDivisible } = CONFIG.input;
    const fitted = fitImage({ height, width, data }, { kind: 'torchvision', minSize, maxSize, sizeDivisible }, CONFIG.input);
    expect(maxDifference(fitted.tensor.data, recorded.getFloat32(of('image')).data)).toBeLessThan(1e-5);
    const found = await runPieces(outputs, fitted.tensor, {});
    const labels = recorded.get(of('labels'));
    expect([...(found.labels?.data as BigInt64Array)]).toEqual(labels.dtype === 'int64' ? [...labels.data] : []);
    expect(maxDifference(found.scores?.data as Float32Array, recorded.getFloat32(of('scores')).data)).toBeLessThan(2e-5);
    expect(maxDifference(found.boxes?.data as Float32Array, recorded.getFloat32(of('boxes')).data)).toBeLessThan(1e-3);
    if (tag === 'other') expect(maxDifference(found.masks?.data as Float32Array, recorded.getFloat32(of('masks')).data)).toBeLessThan(2e-5);
  });
});

it('without a size the import fails and names the input', async () => {
  const failure = await failureOf(() => runStage(importStage, { params: {}, inputs: { model }, folder: folder.path }));
  expect(failure.code).toBe('free-dims');
  expect(failure.message).toContain('"photo" [3, height, width]');
});
