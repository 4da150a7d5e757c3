/** How is emphasis written on a terminal, and not written elsewhere? */
import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

export type Style = (format: Format, text: string) => string;

/** https://no-color.org: NO_COLOR, not empty, wins; FORCE_COLOR turns colour on where there is no terminal, and "0" turns it off. */
export function makeStyle(stream: { readonly isTTY?: boolean | undefined }, environment: NodeJS.ProcessEnv = process.env): Style {
  const { NO_COLOR, FORCE_COLOR, TERM } = environment;
  const forced = FORCE_COLOR !== undefined && FORCE_COLOR !== '';
  const wanted = forced ? FORCE_COLOR !== '0' && FORCE_COLOR !== 'false' : stream.isTTY === true && TERM !== 'dumb';
  const on = wanted && (NO_COLOR === undefined || NO_COLOR === '');
  // Whether there is colour is decided here, for this stream; by default styleText would look at stdout.
  return on ? (format, text) => styleText(format, text, { validateStream: false }) : (_format, text) => text;
}
