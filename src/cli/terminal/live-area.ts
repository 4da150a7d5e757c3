/** Lines at the bottom of a terminal that are drawn again and again. Lines of text are printed above them. */
import type { Console } from './console.js';
import { cut } from './display-width.js';

export interface LiveArea {
  /** Replaces the lines. A line is cut to the terminal's width, because a wrapped line could not be erased. */
  draw(lines: readonly string[]): void;
  erase(): void;
}

export function makeLiveArea(console: Pick<Console, 'raw' | 'width' | 'style'>): LiveArea {
  let drawn = 0;
  const erase = (): void => {
    if (drawn > 0) console.raw(`\u001b[${drawn}A\u001b[0J`);
    drawn = 0;
  };
  return {
    erase,
    draw(lines) {
      erase();
      for (const line of lines) console.raw(`${console.style('cyan', cut(line, console.width() - 1))}\n`);
      drawn = lines.length;
    },
  };
}
