/** Reads detections and ground truth, and matches both sides image by image, in a worker: the files have megabytes. */
import { matchDetections } from '../../../detection/compare/match-detections.js';
import type { ImageRow, MatchedObject, MatchOrder, MatchResult, ObjectBox, ResultTotals } from './result-types.js';

interface RawObject {
  readonly image_id: number | string;
  readonly category_id: number;
  readonly bbox?: readonly number[];
  readonly score?: number;
  readonly iscrowd?: number;
  readonly area?: number;
}

interface RawDataset {
  readonly images?: readonly {
    readonly id: number | string;
    readonly file_name?: string;
    readonly width?: number;
    readonly height?: number;
  }[];
  readonly categories?: readonly { readonly id: number; readonly name: string }[];
  readonly annotations?: readonly RawObject[];
}

/** Box IoU from which on objects of one class are partners. */
const LEAST_IOU = 0.5;

/** A partner is changed if its score or its box moved by more. */
const [MOST_SCORE_CHANGE, LEAST_EQUAL_IOU] = [0.1, 0.8];

addEventListener('message', (event: MessageEvent<MatchOrder>) => {
  try {
    postMessage(match(event.data));
  } catch (error) {
    postMessage({ problem: error instanceof Error ? error.message : String(error) });
  }
});

function match({ left, right, annotations }: MatchOrder): MatchResult {
  const dataset = parse<RawDataset>(annotations);
  const sides = [groupByImage(parse<readonly RawObject[]>(left)), groupByImage(parse<readonly RawObject[]>(right))] as const;
  const truth = groupByImage(dataset.annotations ?? []);
  const found = new Set([...sides[0].keys(), ...sides[1].keys()]);
  const images = (dataset.images ?? []).filter(({ id }) => found.has(String(id)) || found.size === 0);
  const rows = images.map(image => matchImage(String(image.id), image, sides, truth.get(String(image.id)) ?? []));
  const categories = Object.fromEntries((dataset.categories ?? []).map(({ id, name }) => [id, String(name)]));
  return { rows, categories, totals: totalsOf(rows) };
}

function parse<T>(bytes: ArrayBuffer): T {
  return JSON.parse(new TextDecoder().decode(bytes)) as T;
}

function groupByImage(objects: readonly RawObject[]): ReadonlyMap<string, readonly RawObject[]> {
  const groups = new Map<string, RawObject[]>();
  for (const object of Array.isArray(objects) ? (objects as readonly RawObject[]) : []) {
    const key = String(object.image_id);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [object]);
    else group.push(object);
  }
  return groups;
}

type Sides = readonly [ReadonlyMap<string, readonly RawObject[]>, ReadonlyMap<string, readonly RawObject[]>];

function matchImage(
  id: string,
  image: { readonly file_name?: string; readonly width?: number; readonly height?: number },
  sides: Sides,
  truth: readonly RawObject[],
): ImageRow {
  const [left, right] = [(sides[0].get(id) ?? []).map(boxOf), (sides[1].get(id) ?? []).map(boxOf)];
  const { pairs, missed, extra } = matchDetections(toBoxes(left), toBoxes(right), LEAST_IOU);
  const partners = pairs.map(({ reference, candidate, iou }): MatchedObject => {
    const [one, other] = [left[reference], right[candidate]];
    const change = Math.abs((one?.score ?? 0) - (other?.score ?? 0));
    return { kind: change > MOST_SCORE_CHANGE || iou < LEAST_EQUAL_IOU ? 'changed' : 'equal', left: one, right: other, iou };
  });
  const objects: readonly MatchedObject[] = [
    ...partners,
    ...missed.map((index): MatchedObject => ({ kind: 'lost', left: left[index], right: undefined })),
    ...extra.map((index): MatchedObject => ({ kind: 'found', left: undefined, right: right[index] })),
  ];
  return { id, file: image.file_name ?? '', width: image.width ?? 0, height: image.height ?? 0, objects, truth: truth.map(boxOf) };
}

function boxOf({ bbox = [0, 0, 0, 0], category_id, score = 1, iscrowd }: RawObject): ObjectBox {
  const [x = 0, y = 0, width = 0, height = 0] = bbox;
  return { x, y, width, height, category: category_id, score, crowd: iscrowd === 1 };
}

function toBoxes(objects: readonly ObjectBox[]): Parameters<typeof matchDetections>[0] {
  return {
    boxes: Float32Array.from(objects.flatMap(({ x, y, width, height }) => [x, y, x + width, y + height])),
    scores: Float32Array.from(objects, ({ score }) => score),
    labels: objects.map(({ category }) => category),
  };
}

function totalsOf(rows: readonly ImageRow[]): ResultTotals {
  const totals = { equal: 0, changed: 0, lost: 0, found: 0 };
  for (const { objects } of rows) for (const { kind } of objects) totals[kind] += 1;
  return totals;
}
