/** Reads ground truth and detections of each side, for all sections about detections. */
import { type CocoDataset, parseCocoDataset } from '../../src/detection/coco/dataset.js';
import type { IouType } from '../../src/detection/coco/params.js';
import { type CocoResult, parseCocoResults } from '../../src/detection/coco/results.js';
import { takeImages } from '../../src/detection/coco/subset.js';
import type { InputPaths } from '../../src/stage/define-stage.js';
import { readJsonFile } from '../../src/stage/json-file.js';
import { getInputRecord } from '../../src/stage/paths.js';
import { StageError } from '../../src/stage/stage-error.js';
import { type Named, readEntries } from './entries.js';

export interface DetectionSides {
  /** Of the images that either side has a detection in: `samples` may have taken fewer than the file has. */
  readonly dataset: CocoDataset;
  readonly imageFolder: string;
  readonly first: Named<readonly CocoResult[]>;
  readonly last: Named<readonly CocoResult[]>;
  /** The first and the last among them. */
  readonly sides: readonly Named<readonly CocoResult[]>[];
  /** What is compared: masks, where every object and every detection has one. */
  readonly iouType: IouType;
}

/** Undefined where neither detections nor data are connected. @throws StageError `report-overlays`; DetectionError of data set and results. */
export async function readDetections(inputs: InputPaths, order: readonly string[]): Promise<DetectionSides | undefined> {
  const names = typeof inputs.detections === 'object' ? Object.keys(inputs.detections) : [];
  if (names.length === 0 && inputs.data === undefined) return undefined;
  if (inputs.data === undefined || names.length < 2) {
    throw new StageError(
      'report-overlays',
      `overlays need \`data\` and two or more \`detections\`; there ${names.length === 1 ? 'is' : 'are'} ${names.length}${inputs.data === undefined ? ', and no `data`' : ''}`,
      {
        help: 'connect both, or neither',
      },
    );
  }
  const { annotations = '', images = '' } = getInputRecord(inputs, 'data');
  const whole = parseCocoDataset(await readJsonFile(annotations));
  const sides = await readEntries(inputs, 'detections', order, value => parseCocoResults(value, whole));
  const [first, last] = [sides[0], sides.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const results = sides.flatMap(({ value }) => value);
  const dataset = takeImages(whole, new Set(results.map(({ imageId }) => imageId)));
  const hasMasks = [...dataset.annotations, ...results].every(({ segmentation }) => segmentation !== undefined);
  return { dataset, imageFolder: images, first, last, sides, iouType: hasMasks ? 'segm' : 'bbox' };
}
