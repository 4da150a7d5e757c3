/** The interface of detectors of all families, and the objects that they find. */
import type { Boxes } from '../geometry/boxes.js';
import type { RgbImage } from '../image/decode-image.js';
import type { ImageSize } from '../image/image-size.js';
import type { Rle } from '../masks/rle.js';
import type { DetectorPart } from './detector-part.js';
import type { Measure } from './measure.js';
import type { PartValuesByName, RunPart } from './part-runner.js';

/** The host of a detector: everything except running the parts. Each family implements it. */
export interface DetectorHost {
  /** Finds the objects in an image, and returns all inputs and outputs of the parts as well. @throws DetectionError `input-size`, `part-values`; RuntimeError `model-run`. */
  trace(image: RgbImage): Promise<ImageTrace>;
  /** The inputs of each part for an image. The last part is not run. @throws as `trace`. */
  findInputs(image: RgbImage): Promise<PartInputs>;
}

export interface Detector extends DetectorHost {
  /** In the order in which they run. The first takes the image. */
  readonly parts: readonly DetectorPart[];
  /** Runs one part on the given inputs, RoIs in batches. @throws DetectionError `part-values`, RuntimeError `model-run`. */
  runPart(part: string, inputs: PartValuesByName): Promise<PartValuesByName>;
  close(): Promise<void>;
}

/** By part, then by value name. The first axis of an RoI part is 0 where nothing was found. */
export type PartInputs = Readonly<Record<string, PartValuesByName>>;

export interface ImageTrace {
  readonly inputs: PartInputs;
  /** Raw outputs of the parts: before permute, reshape, softmax and sigmoid. */
  readonly outputs: Readonly<Record<string, PartValuesByName>>;
  readonly objects: DetectedObjects;
}

/** Objects found in one image, highest score first. */
export interface DetectedObjects {
  readonly size: ImageSize;
  /** In pixels of the original image; not clipped. */
  readonly boxes: Boxes;
  readonly scores: Float32Array;
  /** Category ids of the data set that the detector was trained on. */
  readonly labels: Int32Array;
  readonly masks: ObjectMasks;
  /** Scores of the masks, where they differ from the objects' scores. */
  readonly maskScores?: Float32Array;
  readonly keypoints?: ObjectKeypoints;
}

/** Points per object, in pixels of the original image. */
export interface ObjectKeypoints {
  readonly count: number;
  /** [objects, count, 3]: x, y and visibility. */
  readonly data: Float32Array;
}

export type ObjectMasks = SquareMasks | { readonly kind: 'none' } | { readonly kind: 'runs'; readonly masks: readonly Rle[] };

/** Per object, a square grid of probabilities over its box. */
export interface SquareMasks {
  readonly kind: 'squares';
  readonly side: number;
  /** [objects, side, side] */
  readonly data: Float32Array;
  /** Pixels above this probability belong to the object. */
  readonly threshold: number;
}

/** What the caller gives to a host. */
export interface HostServices {
  /** Runs a part on its inputs, without batching. */
  readonly run: RunPart;
  readonly measure: Measure;
}
