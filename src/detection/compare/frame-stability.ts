/** Stability of detections over the frames of a video. Objects are followed by class and box IoU. Motion is not separated from jitter, so compare detectors on the same frames. */

import { type Rle, rleArea } from '../masks/rle.js';
import { rleIou } from '../masks/rle-combine.js';
import { type LabeledBoxes, matchDetections } from './match-detections.js';

/** Objects found in one frame. */
export interface FrameObjects extends LabeledBoxes {
  /** Masks of the frame's size, in the order of the boxes; undefined where the detector finds only boxes. */
  readonly masks: readonly (Rle | undefined)[];
}

export interface StabilityRule {
  /** Objects with a lower score are ignored. */
  readonly minScore: number;
  /** Minimum box IoU of an object in consecutive frames. */
  readonly minIou: number;
  /** Maximum number of frames in which an object may be missing and still count as the same. */
  readonly longestGap: number;
}

export const STABILITY_RULE: StabilityRule = { minScore: 0.5, minIou: 0.5, longestGap: 5 };

/** Changes from one frame to the next. */
export interface FrameStep {
  /** Number of objects in the earlier and in the later frame. */
  readonly before: number;
  readonly after: number;
  /** Objects in both frames. */
  readonly kept: readonly MatchedObject[];
  /** Number of objects only in the earlier frame. */
  readonly vanished: number;
  /** Number of objects only in the later frame. */
  readonly appeared: number;
  /** Number of appeared objects that had vanished at the same place at most `longestGap` frames ago: flicker. */
  readonly returned: number;
}

export interface MatchedObject {
  readonly boxIou: number;
  /** Undefined where one of the two has no mask; 1 for two empty masks. */
  readonly maskIou: number | undefined;
  readonly scoreChange: number;
}

/** The steps between consecutive frames of one video: one less than there are frames. */
export function followFrames(frames: readonly FrameObjects[], rule: StabilityRule): readonly FrameStep[] {
  const counted = frames.map(frame => keepFrom(frame, rule.minScore));
  let lost: readonly LostObject[] = [];
  return counted.slice(1).map((after, index) => {
    const before = counted[index] ?? after;
    const { pairs, missed, extra } = matchDetections(before, after, rule.minIou);
    const found = findReturned(takeObjects(after, extra), lost, rule.minIou);
    const left = lost.filter(one => !found.has(one)).map(one => ({ ...one, missing: one.missing + 1 }));
    lost = [...left, ...missed.map(object => ({ objects: takeObjects(before, [object]), missing: 1 }))].filter(
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

/** Figures of all steps. IoU and jitter are undefined where no object was followed. */
export interface Stability {
  /** Number of steps. */
  readonly steps: number;
  /** Sum of the objects in all frames. */
  readonly objects: number;
  /** Sum of the objects that were also in the next frame. */
  readonly kept: number;
  readonly meanBoxIou: number | undefined;
  /** 5th percentile. */
  readonly lowBoxIou: number | undefined;
  readonly meanMaskIou: number | undefined;
  readonly lowMaskIou: number | undefined;
  /** Mean change of an object's score from frame to frame. */
  readonly scoreJitter: number | undefined;
  readonly vanished: number;
  readonly appeared: number;
  readonly flickers: number;
}

/** @param videos steps of each video. */
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

interface LostObject {
  /** The object alone, as last detected. */
  readonly objects: FrameObjects;
  /** Number of frames without it. */
  readonly missing: number;
}

/** The objects of `lost` that are back. Each appeared object matches at most one. */
function findReturned(appeared: FrameObjects, lost: readonly LostObject[], minIou: number): ReadonlySet<LostObject> {
  const places: LabeledBoxes = {
    boxes: Float32Array.from(lost.flatMap(({ objects }) => [...objects.boxes])),
    scores: Float32Array.from(lost, ({ objects }) => objects.scores[0] ?? 0),
    labels: lost.map(({ objects }) => objects.labels[0] ?? 0),
  };
  return new Set(matchDetections(appeared, places, minIou).pairs.flatMap(({ candidate }) => lost[candidate] ?? []));
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
