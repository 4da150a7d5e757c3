/** `tanren coco diff`: compares which objects two detectors find and lists the changes, the worst first, with pictures on request. */

import { basename } from 'node:path';
import { countOf } from '../../../base/text/count-of.js';
import {
  CHANGE_RULE,
  type ChangeKind,
  type Changes,
  findChanges,
  type ObjectChange,
  type SeenObject,
} from '../../../detection/coco/changes.js';
import type { CocoId } from '../../../detection/coco/coco-id.js';
import type { CocoDataset } from '../../../detection/coco/dataset.js';
import { nameCategory } from '../../../detection/coco/name-category.js';
import type { IouType } from '../../../detection/coco/params.js';
import { encodeResult } from '../../../detection/coco/results.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { formatTable } from '../../terminal/text-table.js';
import { type ImageChoice, readDetections, readGroundTruth, runCoco } from './command.js';
import { writePictures } from './write-pictures.js';

export interface CocoDiffOptions {
  readonly groundTruth: string;
  readonly type: IouType;
  readonly images: ImageChoice;
  readonly minScore: number;
  /** The number of changes to list. */
  readonly top: number;
  /** The folder to write pictures to; no pictures if absent. */
  readonly pictures?: string;
  /** The folder of the data set's images. */
  readonly imageFolder?: string;
  readonly json: boolean;
}

export function runCocoDiff(before: string, after: string, options: CocoDiffOptions): Promise<ExitCode> {
  return runCoco(options, async console => {
    const { type, minScore, top } = options;
    const truth = await readGroundTruth(options.groundTruth, options.images, console);
    const [earlier, later] = [await readDetections(before, truth, console), await readDetections(after, truth, console)];
    const changes = findChanges(truth.chosen, earlier, later, { ...CHANGE_RULE, iouType: type, minScore });
    const pictures =
      options.pictures === undefined
        ? []
        : await writePictures({
            folder: options.pictures,
            imageFolder: options.imageFolder,
            dataset: truth.chosen,
            sides: [
              { name: basename(before), results: earlier },
              { name: basename(after), results: later },
            ],
            changes: changes.changes.slice(0, top),
            minScore,
            iouType: type,
          });
    if (options.json)
      console.json({
        before: basename(before),
        after: basename(after),
        type,
        minScore,
        ...encode(changes),
        ...(pictures.length === 0 ? {} : { pictures }),
      });
    else {
      for (const line of format(changes, truth.chosen, top)) console.line(line);
      if (pictures.length > 0) console.line(`\nwrote ${countOf(pictures.length, 'picture')} to ${options.pictures}`);
    }
    return EXIT.built;
  });
}

function countKinds({ changes, kept, missed }: Changes): Readonly<Record<ChangeKind | 'kept' | 'missed', number>> {
  const counts = { lost: 0, found: 0, changed: 0, extra: 0, resolved: 0, kept, missed };
  for (const { kind } of changes) counts[kind]++;
  return counts;
}

function encode(changes: Changes) {
  const seen = (one: SeenObject | undefined) =>
    one === undefined ? null : { score: one.score, iou: one.iou, lacks: one.lacks, detection: encodeResult(one.result) };
  return {
    counts: countKinds(changes),
    changes: changes.changes.map(({ kind, image, truth, before, after, cost }) => ({
      kind,
      cost,
      image_id: image.id,
      annotation_id: truth?.id ?? null,
      category_id: categoryOf({ truth, before, after }),
      before: seen(before),
      after: seen(after),
    })),
  };
}

function format(changes: Changes, dataset: CocoDataset, top: number): readonly string[] {
  const counts = countKinds(changes);
  const names = new Map(dataset.categories.map(({ id, name }) => [id, name]));
  const listed = changes.changes.slice(0, top);
  const rest = changes.changes.length - listed.length;
  return [
    `${countOf(counts.kept, 'object')} found by both, ${counts.changed} changed, ${counts.lost} lost, ${counts.found} found; ${counts.missed} missed by both`,
    `false positives: ${counts.extra} new, ${counts.resolved} resolved`,
    ...(listed.length === 0
      ? []
      : [
          '',
          ...formatTable([
            ['change', 'image', 'class', 'cost', 'score', 'became', 'IoU', 'became', 'why'],
            ...listed.map(change => [
              change.kind,
              String(change.image.id),
              nameCategory(categoryOf(change), names),
              change.cost.toFixed(3).replace('-', '−'),
              show(change.before?.score),
              show(change.after?.score),
              change.truth === undefined ? '' : show(change.before?.iou),
              change.truth === undefined ? '' : show(change.after?.iou),
              explain(change),
            ]),
          ]),
        ]),
    ...(rest > 0 ? [`and ${rest} more; --top lists them`] : []),
  ];
}

function categoryOf({ truth, before, after }: Pick<ObjectChange, 'truth' | 'before' | 'after'>): CocoId {
  return truth?.categoryId ?? before?.result.categoryId ?? after?.result.categoryId ?? 0;
}

function show(value: number | undefined): string {
  return value === undefined ? '–' : value.toFixed(3);
}

/** The reason why the detector that does not find an object misses it. */
function explain({ kind, before, after }: ObjectChange): string {
  if (kind !== 'lost' && kind !== 'found') return '';
  const other = kind === 'lost' ? after : before;
  switch (other?.lacks) {
    case 'score':
      return 'score too low';
    case 'class':
      return 'another class';
    case 'place':
      return 'too little overlap';
    default:
      return 'nothing there';
  }
}
