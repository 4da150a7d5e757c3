/** Masks that an answer of the server leaves out: where its file has them, and their content, fetched for the images that are shown. */
import { parsePythonJson } from '../../../base/json/python-json.js';
import { isJsonList, isJsonObject } from '../../../base/json.js';
import type { Segmentation } from '../../../detection/coco/segmentation.js';

interface Place {
  readonly start: number;
  readonly end: number;
}

/** Reads bytes of the file. */
export type ReadBytes = (start: number, end: number) => Promise<ArrayBuffer>;

/** Masks that lie closer are fetched together: those of an image usually follow each other. */
const MOST_GAP_BYTES = 16_384;

/** A request for more is refused. */
const MOST_RANGE_BYTES = 8_000_000;

/** @returns each mask with its content. @throws errors of `read`; SyntaxError where the bytes are not JSON. */
export async function fetchMasks(masks: readonly Segmentation[], read: ReadBytes): Promise<ReadonlyMap<Segmentation, Segmentation>> {
  const wanted = masks.flatMap(mask => {
    const place = placeOf(mask);
    return place === undefined ? [] : [{ mask, place }];
  });
  const spans = joinPlaces(wanted.map(({ place }) => place));
  const contents = await Promise.all(spans.map(async span => ({ ...span, bytes: new Uint8Array(await read(span.start, span.end)) })));
  const found = new Map<Segmentation, Segmentation>();
  for (const { mask, place } of wanted) {
    const span = contents.find(({ start, end }) => start <= place.start && place.end <= end);
    if (span === undefined || mask.kind !== 'unread') continue;
    const text = new TextDecoder().decode(span.bytes.subarray(place.start - span.start, place.end - span.start));
    found.set(mask, { ...mask, json: parsePythonJson(text) });
  }
  return found;
}

/** undefined for a mask with content. */
function placeOf(mask: Segmentation): Place | undefined {
  if (mask.kind !== 'unread' || !isJsonObject(mask.json) || !isJsonList(mask.json.bytes)) return undefined;
  const [start, end] = mask.json.bytes;
  return typeof start === 'number' && typeof end === 'number' ? { start, end } : undefined;
}

function joinPlaces(places: readonly Place[]): readonly Place[] {
  const spans: { start: number; end: number }[] = [];
  for (const { start, end } of places.toSorted((a, b) => a.start - b.start)) {
    const last = spans.at(-1);
    if (last !== undefined && start - last.end <= MOST_GAP_BYTES && end - last.start <= MOST_RANGE_BYTES)
      last.end = Math.max(last.end, end);
    else spans.push({ start, end });
  }
  return spans;
}
