/** Which cells of a report's tables are names of things that a view shows. A model may name its values by numbers: the text alone does not tell. */

const KINDS: Readonly<Record<string, 'image' | 'stage'>> = { Image: 'image', Stage: 'stage' };

/** @param head of the column. @param written whether the whole text of the cell is code, as all names of values and nodes are. */
export function kindOfName(head: string | undefined, written: boolean): 'image' | 'stage' | 'value' | undefined {
  const kind = head === undefined || !Object.hasOwn(KINDS, head) ? undefined : KINDS[head];
  // Codes of a key are digits too.
  return kind ?? (written && head !== 'Key' ? 'value' : undefined);
}
