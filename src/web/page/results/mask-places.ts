/** Masks that an answer of the server leaves out: where its file has them, and their content, fetched for the images that are shown. */
import { parsePythonJson } from '../../../base/json/python-json.js';
import { isJsonList, isJsonObject, type Json } from '../../../base/json.js';
import type { Segmentation } from '../../../detection/coco/segmentation.js';
import { FileChanged, NotFetched, type ReadBytes } from './fetched-file.js';

interface Place {
  readonly start: number;
  readonly end: number;
}

/** Masks that lie closer are fetched together: those of an image usually follow each other. */
const MOST_GAP_BYTES = 16_384;

/** Spans are joined up to this size. One mask may have more. */
const MOST_JOINED_BYTES = 8_000_000;

export interface FetchedMasks {
  /** Each mask whose content was left out, with it; undefined where it could not be read. */
  readonly contents: ReadonlyMap<Segmentation, Segmentation | undefined>;
  /** Why the first of those could not be read. */
  readonly problem?: string;
}

/** Masks that cannot be read leave the others. @throws FileChanged, as the places of all masks are those of another file. */
export async function fetchMasks(masks: readonly Segmentation[], read: ReadBytes): Promise<FetchedMasks> {
  const wanted = masks.flatMap(mask => {
    const place = placeOf(mask);
    return place === undefined ? [] : [{ mask, place }];
  });
  const spans = joinPlaces(wanted.map(({ place }) => place));
  const answers = await Promise.all(spans.map(async span => ({ ...span, read: await readSpan(span, read) })));
  const contents = new Map<Segmentation, Segmentation | undefined>();
  let first: string | undefined;
  for (const { mask, place } of wanted) {
    const span = answers.find(({ start, end }) => start <= place.start && place.end <= end);
    if (span === undefined || mask.kind !== 'unread') continue;
    const found =
      'problem' in span.read ? span.read : parseMask(span.read.bytes.subarray(place.start - span.start, place.end - span.start));
    contents.set(mask, 'problem' in found ? undefined : { ...mask, json: found.json });
    if ('problem' in found) first ??= found.problem;
  }
  return { contents, ...(first === undefined ? {} : { problem: first }) };
}

interface Problem {
  readonly problem: string;
}

async function readSpan({ start, end }: Place, read: ReadBytes): Promise<{ readonly bytes: Uint8Array } | Problem> {
  try {
    return { bytes: new Uint8Array(await read(start, end)) };
  } catch (error) {
    if (error instanceof FileChanged || !(error instanceof NotFetched)) throw error;
    return { problem: error.message };
  }
}

function parseMask(bytes: Uint8Array): { readonly json: Json } | Problem {
  try {
    return { json: parsePythonJson(new TextDecoder().decode(bytes)) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { problem: `a mask is not JSON: ${error.message}` };
  }
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
    if (last !== undefined && start - last.end <= MOST_GAP_BYTES && end - last.start <= MOST_JOINED_BYTES)
      last.end = Math.max(last.end, end);
    else spans.push({ start, end });
  }
  return spans;
}
