/** What can be asked of any detector, whatever its family? What it finds in an image, and everything between its parts. */
import type { Boxes } from '../geometry/boxes.js';
import type { RgbImage } from '../image/decode-image.js';
import type { ImageSize } from '../image/fit-image.js';
import type { Rle } from '../masks/rle.js';
import type { DetectorPart } from './detector-part.js';
import type { Measure } from './measure.js';
import type { PartValuesByName, RunPart } from './part-runner.js';

/** What a family of detectors brings. */
export interface FamilyDetector {
  /** Finds the objects in an image, and keeps every value between the parts. @throws DetectionError `input-size`, `part-values`; RuntimeError `model-run`. */
  trace(image: RgbImage): Promise<ImageTrace>;
  /** What each part is fed for an image. The last part is not run. @throws as `trace`. */
  findInputs(image: RgbImage): Promise<PartInputs>;
}

export interface Detector extends FamilyDetector {
  /** In the order in which they run: the first is fed the image. */
  readonly parts: readonly DetectorPart[];
  /** Runs one part on inputs that are given, RoIs in batches. @throws DetectionError `part-values`, RuntimeError `model-run`. */
  runPart(part: string, inputs: PartValuesByName): Promise<PartValuesByName>;
  close(): Promise<void>;
}

/** By part, by value. The first axis of a part that is fed RoIs may be 0: nothing was found. */
export type PartInputs = Readonly<Record<string, PartValuesByName>>;

export interface ImageTrace {
  readonly inputs: PartInputs;
  /** As the parts give them: before permute, reshape, softmax and sigmoid. */
  readonly outputs: Readonly<Record<string, PartValuesByName>>;
  readonly objects: DetectedObjects;
}

/** Objects found in one image, the best first. */
export interface DetectedObjects {
  readonly size: ImageSize;
  /** In the original image; not clipped. */
  readonly boxes: Boxes;
  readonly scores: Float32Array;
  /** Category ids of the data set that the detector was trained for. */
  readonly labels: Int32Array;
  readonly masks: ObjectMasks;
  /** How sure the detector is of each mask, where that is not the object's score. */
  readonly maskScores?: Float32Array;
}

export type ObjectMasks = SquareMasks | { readonly kind: 'none' } | { readonly kind: 'runs'; readonly masks: readonly Rle[] };

/** Per object a square of probabilities over its box. */
export interface SquareMasks {
  readonly kind: 'squares';
  readonly side: number;
  /** [objects, side, side] */
  readonly data: Float32Array;
  /** Probability above which a pixel belongs to the object. */
  readonly threshold: number;
}

/** What the host of a family works with. */
export interface FamilyHost {
  /** Runs a part's network on inputs as they are. */
  readonly run: RunPart;
  readonly measure: Measure;
}
