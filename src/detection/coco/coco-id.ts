/** Ids in COCO files. The format says integers; pycocotools takes whatever a file has. */
import type { JsonObject } from '../../base/json.js';
import { badField, LARGE_INTEGER, member, type Place } from './reading.js';

/** An integer beyond 2⁵³ is the text of its digits, as no number holds it exactly. */
export type CocoId = number | string | null;

/** Any number (true counts as 1), text or null. NaN equals no other id. @throws DetectionError `coco-field` where it is missing, a list or an object. */
export function readId(object: JsonObject, name: string, place: Place): CocoId {
  const value = member(object, name);
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'number' && Number.isNaN(value)) return `NaN (${place}.${name})`;
  if (typeof value === 'string' || value === null || typeof value === 'number') return value;
  throw badField(`${place}.${name}`, 'a number or text', value);
}

/** Order of ids: null, numbers, integers beyond 2⁵³, other text by its characters. */
export function compareIds(a: CocoId, b: CocoId): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [rankA, rankB] = [rankOf(a), rankOf(b)];
  if (rankA !== rankB) return rankA - rankB;
  if (a === null || b === null || a === b) return 0;
  if (rankA === LARGE) return BigInt(a) < BigInt(b) ? -1 : 1;
  return a < b ? -1 : 1;
}

const LARGE = 2;

function rankOf(id: CocoId): number {
  if (id === null) return 0;
  if (typeof id === 'number') return 1;
  return LARGE_INTEGER.test(id) ? LARGE : 3;
}

/** The members by id; of equal ids the last one counts. `onRepeat` gets the position of each that a later one replaces. */
export function indexById<T extends { readonly id: CocoId }>(
  members: readonly T[],
  onRepeat: (index: number) => void = () => undefined,
): ReadonlyMap<CocoId, T> {
  const byId = new Map<CocoId, T>();
  const last = new Map<CocoId, number>();
  members.forEach((one, index) => {
    const before = last.get(one.id);
    if (before !== undefined) onRepeat(before);
    last.set(one.id, index);
    byId.set(one.id, one);
  });
  return byId;
}

/** A number for an id, for labels and colors: the id itself, or a hash of its text (FNV-1a, below −1). */
export function numberOf(id: CocoId): number {
  if (typeof id === 'number') return id;
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(String(id))) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return -2 - hash;
}
