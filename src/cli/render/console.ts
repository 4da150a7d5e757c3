/** Where does output go? Results on stdout; with --json, everything for people goes to stderr so that stdout is one JSON document. */
import { makeStyle, type Style } from './style.js';

export interface Console {
  readonly style: Style;
  /** Whether a live area can be drawn. */
  readonly live: boolean;
  readonly width: () => number;
  line(text: string): void;
  /** Writes as it is: for the live area. */
  raw(text: string): void;
  json(value: unknown): void;
}

export function makeConsole(options: { readonly json: boolean }): Console {
  const stream = options.json ? process.stderr : process.stdout;
  return {
    style: makeStyle(stream),
    live: stream.isTTY === true && process.env.TERM !== 'dumb' && process.env.CI === undefined,
    width: () => stream.columns ?? 100,
    line: text => void stream.write(`${text}\n`),
    raw: text => void stream.write(text),
    json: value => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`),
  };
}
