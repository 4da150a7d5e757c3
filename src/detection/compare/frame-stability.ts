/** How steady is a detector from one frame of a video to the next? Objects are followed by class and box IoU; what moves is not told apart from what trembles, so two detectors are compared on the same frames. */

import { type Rle, rleArea } from '../masks/rle.js';
import { rleIou } from '../masks/rle-combine.js';
import { type LabelledBoxes, matchDetections } from './match-detections.js';

/** What was found in one frame. */
export interface FrameObjects extends LabelledBoxes {
  /** Of the frame's size, in the order of the boxes; undefined where the detector finds boxes alone. */
  readonly masks: readonly (Rle | undefined)[];
}

export interface StabilityRule {
  /** Objects below it are not there. */
  readonly minScore: number;
  /** Box IoU from which an object is the one of the frame before. */
  readonly leastIou: number;
  /** Frames without it after which an object that is there again is a new one. */
  readonly longestGap: number;
}

export const STABILITY_RULE: StabilityRule = { minScore: 0.5, leastIou: 0.5, longestGap: 5 };

/** From one frame to the next. */
export interface FrameStep {
  /** Objects of the earlier and of the later frame. */
  readonly before: number;
  readonly after: number;
  /** Of each object that is in both. */
  readonly kept: readonly KeptObject[];
  /** Objects of the earlier frame that have no partner in the later one. */
  readonly vanished: number;
  /** Objects of the later frame that have none in the earlier one. */
  readonly appeared: number;
  /** Of those, objects that had vanished where they now are, at most `longestGap` frames ago: flicker. */
  readonly returned: number;
}

export interface KeptObject {
  readonly boxIou: number;
  /** Undefined where one of the two has no mask. Two empty masks are equal. */
  readonly maskIou: number | undefined;
  readonly scoreChange: number;
}

/** The steps between consecutive frames of one video: one less than frames. */
export function followFrames(frames: readonly FrameObjects[], rule: StabilityRule): readonly FrameStep[] {
  const counting = frames.map(frame => keepFrom(frame, rule.minScore));
  let gone: readonly GoneObject[] = [];
  return counting.slice(1).map((after, index) => {
    const before = counting[index] ?? after;
    const { pairs, missed, extra } = matchDetections(before, after, rule.leastIou);
    const found = findReturned(takeObjects(after, extra), gone, rule.leastIou);
    const left = gone.filter(one => !found.has(one)).map(one => ({ ...one, missing: one.missing + 1 }));
    gone = [...left, ...missed.map(object => ({ objects: takeObjects(before, [object]), missing: 1 }))].filter(
      ({ missing }) => missing <= rule.longestGap,
    );
    return {
      before: before.scores.length,
      after: after.scores.length,
      kept: pairs.map(({ reference, candidate, iou }) => ({
        boxIou: iou,
        maskIou: maskIouOf(before.masks[reference], after.masks[candidate]),
        scoreChange: Math.abs((before.scores[reference] ?? 0) - (after.scores[candidate] ?? 0)),
      })),
      vanished: missed.length,
      appeared: extra.length,
      returned: found.size,
    };
  });
}

/** Steps in numbers; IoU and jitter are undefined where no object was followed. */
export interface Stability {
  /** Steps from a frame to the next. */
  readonly steps: number;
  /** Objects, counted in every frame. */
  readonly objects: number;
  /** Times that an object was there in the next frame too. */
  readonly kept: number;
  readonly meanBoxIou: number | undefined;
  /** The value that a twentieth of the followed objects is below. */
  readonly lowBoxIou: number | undefined;
  readonly meanMaskIou: number | undefined;
  readonly lowMaskIou: number | undefined;
  /** Mean change of an object's score from frame to frame. */
  readonly scoreJitter: number | undefined;
  readonly vanished: number;
  readonly appeared: number;
  readonly flickers: number;
}

/** @param videos the steps of each. */
export function summarizeStability(videos: readonly (readonly FrameStep[])[]): Stability {
  const steps = videos.flat();
  const kept = steps.flatMap(step => step.kept);
  const boxIous = kept.map(({ boxIou }) => boxIou);
  const maskIous = kept.flatMap(({ maskIou }) => (maskIou === undefined ? [] : [maskIou]));
  const sum = (of: (step: FrameStep) => number): number => steps.reduce((all, step) => all + of(step), 0);
  return {
    steps: steps.length,
    objects: sum(({ after }) => after) + videos.reduce((all, video) => all + (video[0]?.before ?? 0), 0),
    kept: kept.length,
    meanBoxIou: meanOf(boxIous),
    lowBoxIou: lowOf(boxIous),
    meanMaskIou: meanOf(maskIous),
    lowMaskIou: lowOf(maskIous),
    scoreJitter: meanOf(kept.map(({ scoreChange }) => scoreChange)),
    vanished: sum(({ vanished }) => vanished),
    appeared: sum(({ appeared }) => appeared),
    flickers: sum(({ returned }) => returned),
  };
}

interface GoneObject {
  /** It alone, as it was seen last. */
  readonly objects: FrameObjects;
  /** Frames without it. */
  readonly missing: number;
}

/** Those of `gone` that are there again; each object that appeared is one of them at most. */
function findReturned(appeared: FrameObjects, gone: readonly GoneObject[], leastIou: number): ReadonlySet<GoneObject> {
  const places: LabelledBoxes = {
    boxes: Float32Array.from(gone.flatMap(({ objects }) => [...objects.boxes])),
    scores: Float32Array.from(gone, ({ objects }) => objects.scores[0] ?? 0),
    labels: gone.map(({ objects }) => objects.labels[0] ?? 0),
  };
  return new Set(matchDetections(appeared, places, leastIou).pairs.flatMap(({ candidate }) => gone[candidate] ?? []));
}

function keepFrom(frame: FrameObjects, minScore: number): FrameObjects {
  return takeObjects(
    frame,
    [...frame.scores.keys()].filter(object => (frame.scores[object] ?? 0) >= minScore),
  );
}

function takeObjects({ boxes, scores, labels, masks }: FrameObjects, objects: readonly number[]): FrameObjects {
  return {
    boxes: Float32Array.from(objects.flatMap(object => [...boxes.subarray(4 * object, 4 * object + 4)])),
    scores: Float32Array.from(objects, object => scores[object] ?? 0),
    labels: objects.map(object => labels[object] ?? 0),
    masks: objects.map(object => masks[object]),
  };
}

function maskIouOf(a: Rle | undefined, b: Rle | undefined): number | undefined {
  if (a === undefined || b === undefined) return undefined;
  return rleArea(a) === 0 && rleArea(b) === 0 ? 1 : rleIou(a, b);
}

function meanOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function lowOf(values: readonly number[]): number | undefined {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 20)];
}
