/** The images and objects that the filters of the view "Results" keep. */
import { type MatchResult, OBJECT_KINDS } from './result-types.js';

/** What a filter keeps: images with at least one object, or all images where nothing is filtered. */
export interface Filtered {
  /** Indexes of images. */
  readonly images: readonly number[];
  /** Per image and kind the number of objects: `counts[4 * image + kind]`. */
  readonly counts: Uint32Array;
  /** 1 for objects that are kept. */
  readonly kept: Uint8Array;
}

/** COCO's bounds of small and medium areas, in pixels. */
export const SIZES: Readonly<Record<string, readonly [number, number]>> = {
  small: [0, 32 ** 2],
  medium: [32 ** 2, 96 ** 2],
  large: [96 ** 2, Number.POSITIVE_INFINITY],
};

const KINDS = OBJECT_KINDS.length;

/** One pass over the columns: 100,000 objects take about a millisecond. */
export function filterRows(result: MatchResult, query: Readonly<Record<string, string>>): Filtered {
  const { objects, objectStarts, images } = result;
  const { kinds, classes, areas, scores } = objects;
  const wanted = { kind: kindOf(query.kind), category: categoryOf(result, query.class), least: Number(query.score ?? 0) };
  const [low, high] = SIZES[query.size ?? ''] ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  const isFree = query.kind === undefined && query.class === undefined && query.size === undefined && wanted.least === 0;
  const counts = new Uint32Array(KINDS * images.length);
  const kept = new Uint8Array(kinds.length);
  const shown: number[] = [];
  for (let image = 0; image < images.length; image++) {
    const end = objectStarts[image + 1] ?? 0;
    let found = 0;
    for (let at = objectStarts[image] ?? 0; at < end; at++) {
      const [kind = 0, area = 0] = [kinds[at], areas[at]];
      const isWanted =
        (wanted.kind < 0 || kind === wanted.kind) &&
        (wanted.category < 0 || classes[at] === wanted.category) &&
        area >= low &&
        (area < high || high === Number.POSITIVE_INFINITY) &&
        (scores[at] ?? 0) >= wanted.least;
      if (!isWanted && !isFree) continue;
      kept[at] = 1;
      counts[KINDS * image + kind] = (counts[KINDS * image + kind] ?? 0) + 1;
      found++;
    }
    if (found > 0 || isFree) shown.push(image);
  }
  return { images: shown, counts, kept };
}

export function countOf({ counts }: Filtered, image: number, kind: number): number {
  return counts[KINDS * image + kind] ?? 0;
}

/** −1: any. An unknown name is no kind, so that nothing is shown. */
function kindOf(name: string | undefined): number {
  if (name === undefined) return -1;
  const found = (OBJECT_KINDS as readonly string[]).indexOf(name);
  return found < 0 ? KINDS : found;
}

function categoryOf({ categories }: MatchResult, id: string | undefined): number {
  if (id === undefined) return -1;
  const found = categories.findIndex(one => one.id === id);
  return found < 0 ? categories.length : found;
}
