/** Makes the input images of the trained public models, as their own code does. */
import type { JsonObject } from '../../src/base/json.js';
import type { Preprocessing } from '../../src/detection/image/preprocessing-schema.js';
import { PREPROCESSING_SCHEMA } from '../../src/detection/image/preprocessing-schema.js';
import { ajvOf } from './params-schema.js';

const parse = (params: JsonObject): Preprocessing => ajvOf(PREPROCESSING_SCHEMA)(params) as Preprocessing;

const IMAGENET: JsonObject = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] };
const PILLOW: JsonObject = { antialias: true, rounding: 'bytes' };
const OPENCV: JsonObject = { rounding: 'bytes' };

export const ULTRAFACE = parse({ ...OPENCV, range: '0..255', mean: [127, 127, 127], std: [128, 128, 128], resize: 'stretch' });
export const PICODET = parse({ ...OPENCV, ...IMAGENET, resize: 'stretch', filter: 'cubic' });
export const YOLOX = parse({ ...PILLOW, colors: 'bgr', range: '0..255', resize: 'pad', fill: 114 });
export const FASTESTDET = parse({ ...OPENCV, colors: 'bgr', resize: 'stretch', filter: 'area' });
export const MOBILENETV2 = parse({ ...PILLOW, ...IMAGENET, resize: 'crop', shorterSide: 278, sizes: 'nearest' });
export const CIFAR = parse(IMAGENET);
export const MASKRCNN2GO = parse({
  ...PILLOW,
  colors: 'bgr',
  range: '0..255',
  resize: 'shorter',
  shorterSide: 320,
  longerSide: 640,
  sizes: 'nearest',
});
