/** What would stand on the console? Everything written, as one text. */
import type { Console } from '../../src/cli/render/console.js';
import { makeStyle } from '../../src/cli/render/style.js';

export interface TextConsole extends Console {
  text(): string;
}

export function makeTextConsole(options: { readonly live: boolean; readonly width?: number }): TextConsole {
  let all = '';
  return {
    style: makeStyle({ isTTY: false }, {}),
    live: options.live,
    width: () => options.width ?? 100,
    line(text) {
      all += `${text}\n`;
    },
    raw(text) {
      all += text;
    },
    json(value) {
      all += JSON.stringify(value);
    },
    text: () => all,
  };
}
