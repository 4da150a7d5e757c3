/** What all commands on COCO files share: reading the files and reporting errors. */

import { basename } from 'node:path';
import { CodedError } from '../../../base/coded-error.js';
import { type CocoId, compareIds } from '../../../detection/coco/coco-id.js';
import type { CocoDataset } from '../../../detection/coco/dataset.js';
import { countOddities, type OddityCounter } from '../../../detection/coco/oddities.js';
import { readCocoDataset, readCocoResults } from '../../../detection/coco/read-files.js';
import type { CocoResult } from '../../../detection/coco/results.js';
import { countUnknownCategories, takeImages, takeKnownCategories, takeResults } from '../../../detection/coco/subset.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { type Console, makeConsole } from '../../terminal/console.js';
import { endWithError } from '../../terminal/end-with-error.js';

/** Runs `action`. An error in files or options is reported once on stderr, and with `--json` also as a document of diagnostics; exit code 2. */
export async function runCoco({ json }: { readonly json: boolean }, action: (console: Console) => Promise<ExitCode>): Promise<ExitCode> {
  const console = makeConsole({ json });
  try {
    return await action(console);
  } catch (error) {
    return endWithError(error, console, { json }, EXIT.usage);
  }
}

/** The images to use: 'all', the first `count` by id, or those with the given ids. */
export type ImageChoice =
  | 'all'
  | { readonly kind: 'first'; readonly count: number }
  | { readonly kind: 'ids'; readonly ids: readonly string[] };

/** The whole data set of the file, and the data set of the chosen images. */
export interface GroundTruth {
  readonly whole: CocoDataset;
  readonly chosen: CocoDataset;
}

/** Oddities of the file are warnings. @throws CodedError `image-unknown`; DetectionError if the file cannot be read or is invalid. */
export async function readGroundTruth(path: string, choice: ImageChoice, console: Console): Promise<GroundTruth> {
  const oddities = countOddities();
  const whole = await readCocoDataset(path, oddities.note);
  report(path, oddities, console);
  return { whole, chosen: choice === 'all' ? whole : takeImages(whole, choose(whole, choice)) };
}

/**
 * The results of the chosen images. Results of categories that the ground truth lacks are left out with a warning.
 * @throws DetectionError if the file cannot be read or is invalid.
 */
export async function readDetections(path: string, { whole, chosen }: GroundTruth, console: Console): Promise<readonly CocoResult[]> {
  const oddities = countOddities();
  const all = await readCocoResults(path, whole, oddities.note);
  report(path, oddities, console);
  const results = takeResults(all, new Set(chosen.images.map(({ id }) => id)));
  const unknown = countUnknownCategories(chosen, results);
  if (unknown.size > 0) {
    const count = [...unknown.values()].reduce((sum, one) => sum + one, 0);
    const ids = [...unknown.keys()].sort(compareIds);
    console.problem(
      'warning',
      `warning[${LEFT_OUT}]: ${basename(path)}: ${count} of ${results.length} detections are of categories that the ground truth lacks (${list(ids)}) and are ignored`,
    );
  }
  return takeKnownCategories(chosen, results);
}

function report(path: string, oddities: OddityCounter, console: Console): void {
  for (const oddity of oddities.list()) console.problem('warning', `warning[${ODD}]: ${basename(path)}: ${oddity}`);
}

function choose({ images }: CocoDataset, choice: Exclude<ImageChoice, 'all'>): ReadonlySet<CocoId> {
  const ids = images.map(({ id }) => id).sort(compareIds);
  if (choice.kind === 'first') return new Set(ids.slice(0, choice.count));
  const known = new Map(ids.map(id => [String(id), id]));
  const lacking = choice.ids.filter(id => !known.has(id));
  if (lacking.length === 0) return new Set(choice.ids.flatMap(id => known.get(id) ?? []));
  throw new CodedError('image-unknown', `the ground truth has no image ${list(lacking)}`, {
    help: `its ${ids.length} images have ids from ${ids[0] ?? '–'} to ${ids.at(-1) ?? '–'}`,
  });
}

const LEFT_OUT = 'coco-left-out';
const ODD = 'coco-odd';

const LISTED = 6;

function list(ids: readonly CocoId[]): string {
  return ids.length > LISTED ? `${ids.slice(0, LISTED).join(', ')} and ${ids.length - LISTED} more` : ids.join(', ');
}
