/** Lines at the bottom of a terminal that are drawn again and again. Lines of text are printed above them. */
import type { Console } from './console.js';
import { cut, displayWidth } from './display-width.js';

export interface LiveArea {
  /**
   * Replaces the lines; what has not changed is not written again.
   * A line is cut to the terminal's width, because a wrapped line could not be erased.
   */
  draw(lines: readonly string[]): void;
  erase(): void;
}

interface Drawn {
  readonly lines: readonly string[];
  /** Of the terminal, when the lines were drawn. */
  readonly width: number;
}

const NOTHING: Drawn = { lines: [], width: Number.POSITIVE_INFINITY };

export function makeLiveArea(console: Pick<Console, 'raw' | 'width' | 'style'>): LiveArea {
  let drawn = NOTHING;
  const write = (text: string): void => {
    if (text !== '') console.raw(text);
  };
  return {
    erase() {
      write(eraseOf(drawn, console.width()));
      drawn = NOTHING;
    },
    draw(lines) {
      const width = console.width();
      const next: Drawn = { lines: lines.map(line => cut(line, width - 1)), width };
      const styled = (line: string): string => console.style('cyan', line);
      const isSameShape = drawn.width === width && drawn.lines.length === next.lines.length;
      if (isSameShape) write(changeOf(drawn.lines, next.lines, styled));
      else write(`${eraseOf(drawn, width)}${next.lines.map(line => `${styled(line)}\n`).join('')}`);
      drawn = next;
    },
  };
}

function eraseOf(drawn: Drawn, width: number): string {
  const rows = drawn.lines.reduce((sum, line) => sum + rowsOf(line, drawn, width), 0);
  return rows === 0 ? '' : `\u001b[${rows}A\u001b[0J`;
}

/** A terminal that has become narrower since has wrapped the lines that no longer fit. */
function rowsOf(line: string, drawn: Drawn, width: number): number {
  return width >= drawn.width ? 1 : Math.max(1, Math.ceil(displayWidth(line) / Math.max(1, width)));
}

/** Goes up to the first line that differs, writes those that differ, and goes down again. */
function changeOf(before: readonly string[], lines: readonly string[], styled: (line: string) => string): string {
  const first = lines.findIndex((line, index) => line !== before[index]);
  if (first < 0) return '';
  const rows = lines.slice(first).map((line, index) => (line === before[first + index] ? '\n' : `\u001b[2K${styled(line)}\n`));
  return `\u001b[${lines.length - first}A${rows.join('')}`;
}
