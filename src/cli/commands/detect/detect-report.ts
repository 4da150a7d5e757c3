/** Formats detections in pictures: a line per picture and detector, then tables with a column per detector. */
import type { CocoId } from '../../../detection/coco/coco-id.js';
import { nameCategory } from '../../../detection/coco/name-category.js';
import type { CocoResult } from '../../../detection/coco/results.js';
import type { DetectionFigures } from '../../../detection/compare/detection-figures.js';
import type { Stability } from '../../../detection/compare/frame-stability.js';
import { formatTable } from '../../terminal/text-table.js';
import type { Timing } from './step-times.js';

/** The number of objects that a line names. */
const NAMED = 6;

/** "3 objects: star 0.98, circle 0.97, ring 0.81". */
export function describeObjects(results: readonly CocoResult[], categories: ReadonlyMap<CocoId, string>, minScore: number): string {
  const shown = results.filter(({ score }) => score >= minScore);
  if (shown.length === 0) return 'no objects';
  const named = shown.slice(0, NAMED).map(({ categoryId, score }) => `${nameCategory(categoryId, categories)} ${score.toFixed(2)}`);
  const rest = shown.length - named.length;
  return `${shown.length} object${shown.length === 1 ? '' : 's'}: ${named.join(', ')}${rest > 0 ? `, and ${rest} more` : ''}`;
}

/** One column per detector; steps in the order of execution. */
export function formatTiming(stages: readonly string[], timings: readonly (Timing | undefined)[]): readonly string[] {
  const steps = [...new Set(timings.flatMap(timing => timing?.steps.map(({ step }) => step) ?? []))];
  const msOf = (timing: Timing | undefined, step: string): string => formatMs(timing?.steps.find(one => one.step === step)?.ms);
  return formatTable([
    ['ms per picture', ...stages],
    ...steps.map(step => [step, ...timings.map(timing => msOf(timing, step))]),
    ['together', ...timings.map(timing => formatMs(timing?.msPerPicture))],
    ['pictures per second', ...timings.map(timing => (timing === undefined ? '–' : timing.picturesPerSecond.toFixed(1)))],
  ]);
}

export function formatStability(stages: readonly string[], stabilities: readonly Stability[]): readonly string[] {
  if (stabilities.every(({ steps }) => steps === 0)) return ['no two frames of equal size in one folder: nothing was tracked'];
  const row = (name: string, of: (stability: Stability) => number | undefined, digits: number): readonly string[] => [
    name,
    ...stabilities.map(stability => of(stability)?.toFixed(digits) ?? '–'),
  ];
  return formatTable([
    ['from frame to frame', ...stages],
    row('objects in all frames', one => one.objects, 0),
    row('kept', one => one.kept, 0),
    row('box IoU, mean', one => one.meanBoxIou, 4),
    row('box IoU, lowest 5 %', one => one.lowBoxIou, 4),
    row('mask IoU, mean', one => one.meanMaskIou, 4),
    row('mask IoU, lowest 5 %', one => one.lowMaskIou, 4),
    row('score jitter', one => one.scoreJitter, 4),
    row('appeared', one => one.appeared, 0),
    row('vanished', one => one.vanished, 0),
    row('flickers', one => one.flickers, 0),
  ]);
}

/** The agreement of a detector with the first one. @param masks whether objects have masks. */
export function describeAgreement(stage: string, first: string, figures: DetectionFigures, masks: 'some' | 'none'): string {
  const { reference, candidate, missed, extra, meanBoxIou, meanMaskIou, meanScoreDifference } = figures;
  const counts = `${missed} of ${reference} objects lost, ${extra} of ${candidate} new`;
  const maskIou = masks === 'some' ? `, mask IoU ${meanMaskIou.toFixed(4)}` : '';
  return `${stage} compared with ${first}: ${counts}; box IoU ${meanBoxIou.toFixed(4)}${maskIou}, score difference ${meanScoreDifference.toFixed(4)}`;
}

function formatMs(ms: number | undefined): string {
  return ms === undefined ? '–' : ms.toFixed(2);
}
