/** The difference of two texts that differ in one place, as lines. */

export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
  /** Line of the new text; of a removed line, of the former text. */
  readonly line: number;
}

const CONTEXT = 3;

/** The lines that differ, with a few around them. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  const line = (kind: DiffLine['kind'], lines: readonly string[], index: number): DiffLine => ({
    kind,
    text: lines[index] ?? '',
    line: index + 1,
  });
  const range = (from: number, to: number): readonly number[] => Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
  return [
    ...range(Math.max(0, start - CONTEXT), start).map(index => line('same', now, index)),
    ...range(start, old.length - end).map(index => line('removed', old, index)),
    ...range(start, now.length - end).map(index => line('added', now, index)),
    ...range(now.length - end, Math.min(now.length, now.length - end + CONTEXT)).map(index => line('same', now, index)),
  ];
}
