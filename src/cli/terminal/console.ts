/**
 * The output streams of a command: results go to stdout, problems to stderr.
 * With --json, all text for people goes to stderr, so that stdout is one JSON document.
 */
import { batchedStreams, type Streams } from './batched-output.js';
import { makeStyle, type Style } from './style.js';

export interface Console {
  readonly style: Style;
  /** Whether a live area can be drawn. */
  readonly live: boolean;
  /** The number of terminal columns; infinite without a terminal, because files and pipes have no width. */
  readonly width: () => number;
  readonly height: () => number;
  line(text: string): void;
  /** Writes text unchanged, for the live area. */
  raw(text: string): void;
  json(value: unknown): void;
  /** Prints a problem in the arguments or the pipeline file. It always goes to stderr, so that a redirected result holds nothing else. */
  problem(severity: 'error' | 'warning', text: string): void;
}

export function makeConsole(
  options: { readonly json: boolean },
  streams: Streams = batchedStreams,
  environment: NodeJS.ProcessEnv = process.env,
): Console {
  const stream = options.json ? streams.stderr : streams.stdout;
  const problemStyle = makeStyle(streams.stderr, environment);
  return {
    style: makeStyle(stream, environment),
    live: stream.isTTY === true && environment.TERM !== 'dumb' && environment.CI === undefined,
    width: () => (stream.isTTY === true ? stream.columns || 80 : Number.POSITIVE_INFINITY),
    height: () => stream.rows || 24,
    line: text => void stream.write(`${text}\n`),
    raw: text => void stream.write(text),
    json: value => void streams.stdout.write(`${JSON.stringify(value, null, 2)}\n`),
    problem(severity, text) {
      const [head = '', ...rest] = text.split('\n');
      streams.stderr.write(`${[problemStyle(severity === 'error' ? 'red' : 'yellow', head), ...rest].join('\n')}\n`);
    },
  };
}
