/** Preprocessed images and model outputs against recordings made with the public models' own code. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeImage } from '../../../src/detection/image/decode-image.js';
import { preprocessImage } from '../../../src/detection/image/preprocessing.js';
import type { Preprocessing } from '../../../src/detection/image/preprocessing-schema.js';
import { openSession } from '../../../src/runtime/session/session.js';
import { type NpzArchive, readNpz } from '../../../src/tensor/formats/npz.js';
import type { Tensor } from '../../../src/tensor/tensor.js';
import { maxDifference } from '../../support/max-difference.js';
import { CIFAR, FASTESTDET, MASKRCNN2GO, MOBILENETV2, PICODET, ULTRAFACE, YOLOX } from '../../support/public-models.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;
const at = (...parts: string[]): string => join(shared ?? '', ...parts);

const COCO_IMAGE = 'images/coco-mini12/images/000000000009.jpg';
const PHOTOGRAPH = 'images/imagenet-val60/ILSVRC2012_val_00000066.JPEG';

interface PublicModel {
  readonly file: string;
  readonly image: string;
  readonly preprocessing: Preprocessing;
  /** The allowed difference of the input in steps of 1/255: 0 if our arithmetic is that of the library, 1 if the library computes in floats. */
  readonly steps: 0 | 1;
}

const MODELS: readonly PublicModel[] = [
  { file: 'ultraface/version-RFB-320.onnx', image: COCO_IMAGE, preprocessing: ULTRAFACE, steps: 0 },
  { file: 'picodet/picodet_s_320_coco.onnx', image: COCO_IMAGE, preprocessing: PICODET, steps: 0 },
  { file: 'yolox-nano/yolox_nano.onnx', image: COCO_IMAGE, preprocessing: YOLOX, steps: 0 },
  { file: 'fastestdet/FastestDet.onnx', image: COCO_IMAGE, preprocessing: FASTESTDET, steps: 1 },
  { file: 'mobilenetv2/mobilenetv2_fp32.onnx', image: PHOTOGRAPH, preprocessing: MOBILENETV2, steps: 0 },
  { file: 'cifar-resnet20/cifar_resnet20.onnx', image: 'images/cifar10/airplane/0000.jpg', preprocessing: CIFAR, steps: 0 },
  { file: 'maskrcnn2go/maskrcnn2go_deq_fp32.onnx', image: COCO_IMAGE, preprocessing: MASKRCNN2GO, steps: 0 },
];

suite.each(MODELS)('$file', ({ file, image, preprocessing, steps }) => {
  let sample: NpzArchive;
  let name: string;
  let input: Tensor;

  beforeAll(async () => {
    sample = await readNpz(at('models', file.split('/')[0] ?? '', 'sample.npz'));
    name = sample.names.find(one => one.startsWith('input:'))?.slice('input:'.length) ?? '';
    const pixels = await decodeImage(await readFile(at(image)), image);
    const [, , height, width] = sample.get(`input:${name}`).dims;
    const size = preprocessing.resize === 'shorter' ? { height: undefined, width: undefined } : { height, width };
    input = preprocessImage(pixels, size, preprocessing).tensor;
  });

  it('preprocesses the image as recorded', () => {
    const recorded = sample.get(`input:${name}`);
    expect(input.dims).toEqual(recorded.dims);
    const step = (preprocessing.range === '0..1' ? 1 / 255 : 1) / Math.min(...preprocessing.std);
    // 1e-5: normalization in another order of float32 operations.
    expect(maxDifference(numbersOf(input), numbersOf(recorded))).toBeLessThan(steps * step + 1e-5);
  });

  it('gives the recorded outputs for the recorded input', async () => {
    const session = await openSession(at('models', file), { optimization: 'all' });
    const recorded = sample.get(`input:${name}`);
    const fed = recorded.dtype === 'float32' ? recorded : input;
    const outputs = await session.run({ [name]: fed });
    await session.close();
    for (const output of session.outputNames) {
      const found = outputs[output];
      const { values, std, every, dims } = readOutput(sample, output);
      expect([output, found?.dims]).toEqual([output, dims]);
      const taken = numbersOf(found as Tensor).filter((_, i) => i % every === 0);
      // 0.001 of the standard deviation: other kernels on another machine.
      expect(maxDifference(taken, values)).toBeLessThanOrEqual(1e-3 * std);
    }
  });
});

/** A recorded output: all elements, or every n-th element. */
function readOutput(sample: NpzArchive, name: string) {
  const numbers = (key: string): number[] => numbersOf(sample.get(key));
  if (sample.names.includes(`output:${name}:samples`)) {
    const [every = 1] = numbers(`output:${name}:every`);
    const [std = 0] = numbers(`output:${name}:std`);
    return { values: numbers(`output:${name}:samples`), std, every, dims: numbers(`output:${name}:shape`) };
  }
  const { dims } = sample.get(`output:${name}`);
  const values = numbers(`output:${name}`);
  const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
  return { values, std: Math.sqrt(values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / values.length), every: 1, dims: [...dims] };
}

function numbersOf({ data }: Tensor): number[] {
  return Array.from(data as ArrayLike<number | bigint>, Number);
}
