/** Text styles for terminals; other outputs get plain text. */
import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

export type Style = (format: Format, text: string) => string;

/**
 * Colors follow https://no-color.org: a non-empty NO_COLOR turns color off and takes precedence.
 * FORCE_COLOR turns color on without a terminal; FORCE_COLOR "0" turns it off.
 */
export function makeStyle(stream: { readonly isTTY?: boolean | undefined }, environment: NodeJS.ProcessEnv = process.env): Style {
  const { NO_COLOR, FORCE_COLOR, TERM } = environment;
  const forced = FORCE_COLOR !== undefined && FORCE_COLOR !== '';
  const wanted = forced ? FORCE_COLOR !== '0' && FORCE_COLOR !== 'false' : stream.isTTY === true && TERM !== 'dumb';
  const on = wanted && (NO_COLOR === undefined || NO_COLOR === '');
  // The decision about color is made here for this stream; by default styleText would examine stdout.
  return on ? (format, text) => styleText(format, text, { validateStream: false }) : (_format, text) => text;
}
