/** Measures how stable each detector is over the frames of a folder. Frames of one folder and one size form a video. */
import { numberOf } from '../../../detection/coco/coco-id.js';
import type { CocoResult } from '../../../detection/coco/results.js';
import {
  type FrameObjects,
  followFrames,
  STABILITY_RULE,
  type Stability,
  summarizeStability,
} from '../../../detection/compare/frame-stability.js';
import { folderOf } from './list-pictures.js';
import type { DetectionRun } from './run-detection.js';

/** The stability of each detector, in the order of the detectors. */
export function followVideos({ pictures }: DetectionRun, detectors: number, minScore: number): readonly Stability[] {
  const videos = splitVideos(pictures);
  return Array.from({ length: detectors }, (_, detector) =>
    summarizeStability(
      videos.map(video =>
        followFrames(
          video.map(({ results }) => toFrame(results[detector] ?? [])),
          { ...STABILITY_RULE, minScore },
        ),
      ),
    ),
  );
}

function splitVideos(pictures: DetectionRun['pictures']): readonly DetectionRun['pictures'][] {
  const videos = new Map<string, DetectionRun['pictures'][number][]>();
  for (const one of pictures) {
    const name = `${one.size.width}×${one.size.height} ${folderOf(one.picture)}`;
    const video = videos.get(name);
    if (video === undefined) videos.set(name, [one]);
    else video.push(one);
  }
  return [...videos.values()];
}

function toFrame(results: readonly CocoResult[]): FrameObjects {
  return {
    boxes: Float32Array.from(
      results.flatMap(({ box }) => {
        const [x = 0, y = 0, width = 0, height = 0] = box ?? [];
        return [x, y, x + width, y + height];
      }),
    ),
    scores: Float32Array.from(results, ({ score }) => score),
    labels: results.map(({ categoryId }) => numberOf(categoryId)),
    masks: results.map(({ segmentation }) => (segmentation?.kind === 'rle' ? segmentation.rle : undefined)),
  };
}
