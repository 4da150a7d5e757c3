/** Sets of whole numbers in limits: "1-9", "1,2,4", "1-4,8". */
import { matching } from '../../base/schema/build-schema.js';

const PART = '\\s*\\d{1,9}(-\\d{1,9})?\\s*';

/** `parseIntegerSet` also refuses ranges that end before they begin. */
export const INTEGER_SET_SCHEMA = matching(new RegExp(`^${PART}(,${PART})*$`), 'integers such as "1-9" or "1,2,4"');

export interface IntegerSet {
  /** "1 to 9", "1, 2 or 4", for messages. */
  readonly text: string;
  has(value: number): boolean;
}

/** The set that `text` describes; undefined if it is malformed. */
export function parseIntegerSet(text: string): IntegerSet | undefined {
  const ranges: (readonly [number, number])[] = [];
  for (const part of text.split(',')) {
    const match = /^\s*(\d{1,9})(?:-(\d{1,9}))?\s*$/.exec(part);
    if (match === null) return undefined;
    const low = Number(match[1]);
    const high = Number(match[2] ?? match[1]);
    if (high < low) return undefined;
    ranges.push([low, high]);
  }
  const words = ranges.map(([low, high]) => (low === high ? `${low}` : `${low} to ${high}`));
  const last = words.at(-1) ?? '';
  return {
    text: words.length === 1 ? last : `${words.slice(0, -1).join(', ')} or ${last}`,
    has: value => ranges.some(([low, high]) => value >= low && value <= high),
  };
}
