/** Text measured, padded and cut by the terminal columns that it takes: a Chinese character takes two, a combining accent none. */
import stringWidth from 'string-width';

export function displayWidth(text: string): number {
  return /^[\x20-\x7e]*$/.test(text) ? text.length : stringWidth(text);
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - displayWidth(text))) + text;
}

/** The longest beginning of `text` that takes at most `width` columns. */
export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let taken = '';
  for (const character of text) {
    if (displayWidth(taken + character) > width) break;
    taken += character;
  }
  return taken;
}

/** "…" takes the place of what exceeds the width. */
export function cutWithMark(text: string, width: number): string {
  return displayWidth(text) <= width ? text : `${cut(text, width - 1)}…`;
}

/** Columns for names before texts: those of the widest, but at most half of a line, so that a long name leaves room for the texts of the others. */
export function nameColumns(names: Iterable<string>, width: number): number {
  return Math.min(widest(names), Math.floor(width / 2));
}

export function widest(texts: Iterable<string>): number {
  let width = 0;
  for (const text of texts) width = Math.max(width, displayWidth(text));
  return width;
}
