/** Where output goes: results to stdout, problems to stderr; with --json, everything for people goes to stderr so that stdout is one JSON document. */
import { batchedStreams, type Streams } from './batched-output.js';
import { makeStyle, type Style } from './style.js';

export interface Console {
  readonly style: Style;
  /** Whether a live area can be drawn. */
  readonly live: boolean;
  /** Columns of the terminal; infinite where there is none, as files and pipes have no width. */
  readonly width: () => number;
  readonly height: () => number;
  line(text: string): void;
  /** Writes as it is: for the live area. */
  raw(text: string): void;
  json(value: unknown): void;
  /** What is wrong with the arguments or the pipeline file: on stderr always, so that a redirected result holds nothing else. */
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
