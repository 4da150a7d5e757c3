/** Text in lines of at most a width, broken at spaces. */
import { displayWidth } from './display-width.js';

/** A word longer than the width has a line of its own. */
export function wrapText(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && displayWidth(last) + 1 + displayWidth(word) <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** The text, whose further lines are indented by two columns. */
export function wrapHanging(text: string, width: number): string {
  return wrapText(text, width - 2).join('\n  ');
}

/** Least width of text behind a name; below it, the terminal breaks lines better. */
const LEAST_WIDTH = 24;

/** `name`, two spaces, and `text`, whose further lines begin below its first. */
export function wrapBehind(name: string, text: string, width: number): string[] {
  const indent = displayWidth(name) + 2;
  if (width - indent < LEAST_WIDTH) return [`${name}  ${text}`];
  return wrapText(text, width - indent).map((line, index) => (index === 0 ? `${name}  ${line}` : ' '.repeat(indent) + line));
}
