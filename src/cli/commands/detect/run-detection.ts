/** Runs several detectors on pictures. All detectors run on one picture before the next, so that other load on the machine affects all of them alike. */
import type { CocoResult } from '../../../detection/coco/results.js';
import { compareDetections, type DetectionComparison, type MatchRule } from '../../../detection/compare/compare-detections.js';
import type { StepTime } from '../../../detection/detector/measure.js';
import type { ImageSize } from '../../../detection/image/image-size.js';
import type { DocumentImage } from './coco-document.js';
import { detectPicture, type FoundInPicture, type PictureProblem, type TimedDetector } from './detect-picture.js';
import type { Picture } from './list-pictures.js';

export interface PictureFound {
  readonly picture: Picture;
  readonly size: ImageSize;
  /** The results of each detector, in the order of the detectors. */
  readonly found: readonly FoundInPicture[];
}

export interface DetectionRun {
  readonly problems: readonly { readonly picture: Picture; readonly problem: PictureProblem }[];
  readonly pictures: readonly {
    readonly picture: Picture;
    readonly size: ImageSize;
    /** The results of each detector. */
    readonly results: readonly FoundInPicture['results'][];
  }[];
  /** The step times by detector, then by picture. */
  readonly times: readonly (readonly (readonly StepTime[])[])[];
  /** The comparisons of each further detector with the first, by picture. */
  readonly comparisons: readonly (readonly DetectionComparison[])[];
}

export interface RunHooks {
  /** Called before the next picture is read, because pixels are not kept. */
  found(picture: PictureFound): Promise<void>;
  problem(picture: Picture, problem: PictureProblem): void;
  readonly signal: AbortSignal;
}

/**
 * Runs all detectors on all pictures. A picture that one detector cannot process is reported as a problem and left out for all.
 * @throws errors of a detector.
 */
export async function runDetection(
  detectors: readonly TimedDetector[],
  pictures: readonly Picture[],
  rule: MatchRule,
  hooks: RunHooks,
): Promise<DetectionRun> {
  const problems: { picture: Picture; problem: PictureProblem }[] = [];
  const done: DetectionRun['pictures'][number][] = [];
  const times = detectors.map((): (readonly StepTime[])[] => []);
  const comparisons = detectors.slice(1).map((): DetectionComparison[] => []);
  for (const picture of pictures) {
    if (hooks.signal.aborted) break;
    const all = await detectByAll(detectors, picture);
    if (all.kind === 'problem') {
      problems.push({ picture, problem: all });
      hooks.problem(picture, all);
      continue;
    }
    const [first] = all.found;
    if (first === undefined) continue;
    const size = { height: first.image.height, width: first.image.width };
    for (const [index, one] of all.found.entries()) {
      times[index]?.push(one.times);
      if (index > 0) comparisons[index - 1]?.push(compareDetections(picture.id, first.objects, one.objects, rule));
    }
    done.push({ picture, size, results: all.found.map(({ results }) => results) });
    await hooks.found({ picture, size, found: all.found });
  }
  return { problems, pictures: done, times, comparisons };
}

interface FoundByAll {
  readonly kind: 'found-by-all';
  readonly found: readonly FoundInPicture[];
}

async function detectByAll(detectors: readonly TimedDetector[], picture: Picture): Promise<FoundByAll | PictureProblem> {
  const all: FoundInPicture[] = [];
  for (const detector of detectors) {
    const found = await detectPicture(detector, picture);
    if (found.kind === 'problem') return found;
    all.push(found);
  }
  return { kind: 'found-by-all', found: all };
}

export function imagesOf({ pictures }: DetectionRun): readonly DocumentImage[] {
  return pictures.map(({ picture, size }) => ({ id: picture.id, fileName: picture.fileName, size }));
}

/** The results of one detector for all pictures, in order. */
export function resultsOf({ pictures }: DetectionRun, detector: number): readonly CocoResult[] {
  return pictures.flatMap(({ results }) => results[detector] ?? []);
}
