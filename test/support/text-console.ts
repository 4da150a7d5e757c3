/** A console that keeps everything written, as one text and as a terminal would show it. */
import type { Console } from '../../src/cli/terminal/console.js';

export interface TextConsole extends Console {
  /** All that was written, with the sequences of the live area. */
  text(): string;
  /** The lines on the screen, live area included. */
  screen(): readonly string[];
  readonly documents: unknown[];
  readonly problems: string[];
}

/** Understands newlines and the sequences that the live area uses: n lines up, erase the line, and erase below. */
export function makeTextConsole(
  options: { readonly live?: boolean; readonly width?: number; readonly height?: number; readonly color?: boolean } = {},
): TextConsole {
  let lines: string[] = [''];
  let at = 0;
  const documents: unknown[] = [];
  const problems: string[] = [];
  let all = '';
  const raw = (text: string): void => {
    all += text;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences of a terminal
    for (const piece of text.split(/(\u001b\[\d+[AJK]|\n)/)) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: as above
      const up = /^\u001b\[(\d+)A$/.exec(piece);
      if (up !== null) at = Math.max(0, at - Number(up[1]));
      else if (piece === '\u001b[0J') lines = [...lines.slice(0, at), ''];
      else if (piece === '\u001b[2K') lines[at] = '';
      else if (piece !== '\n') lines[at] += piece;
      else {
        at += 1;
        lines[at] ??= '';
      }
    }
  };
  return {
    style: options.color === true ? (format, text) => `<${String(format)}>${text}</>` : (_format, text) => text,
    live: options.live ?? false,
    width: () => options.width ?? Number.POSITIVE_INFINITY,
    height: () => options.height ?? 24,
    line: text => raw(`${text}\n`),
    raw,
    json: value => void documents.push(value),
    problem: (_severity, text) => void problems.push(text),
    text: () => all,
    screen: () => lines.slice(0, -1),
    documents,
    problems,
  };
}
