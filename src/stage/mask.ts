/** Masks the values of secrets in texts, also in texts that arrive in chunks. */
import type { Readable } from 'node:stream';
import type { Json } from '../base/json.js';

export interface Mask {
  /** The text with "***" for each secret. */
  apply(text: string): string;
  /** The same for a text in chunks: each call returns the text that is safe to show. */
  stream(): { write(text: string): string; end(): string };
}

const HIDDEN = '***';

/** Shorter lines of a multi-line secret are not masked: "}" occurs in many texts. */
const SHORTEST_LINE = 4;

/** @param secrets values; undefined and empty values mask nothing. A multi-line secret is masked line by line, because programs may print it so. */
export function makeMask(secrets: readonly (string | undefined)[]): Mask {
  const whole = secrets.filter(value => value !== undefined && value !== '') as string[];
  const lines = whole.flatMap(value => value.split(/\r?\n/)).filter(line => line.length >= SHORTEST_LINE);
  const values = [...new Set([...whole, ...lines])].sort((a, b) => b.length - a.length);
  const apply = (text: string): string => values.reduce((masked, value) => masked.replaceAll(value, HIDDEN), text);
  /** Length of the end of `text` that may be the beginning of a secret. */
  const begun = (text: string): number => {
    for (let length = Math.min((values[0]?.length ?? 1) - 1, text.length); length > 0; length--)
      if (values.some(value => value.length > length && value.startsWith(text.slice(-length)))) return length;
    return 0;
  };
  return {
    apply,
    stream() {
      let held = '';
      return {
        write(text) {
          const masked = apply(held + text);
          const length = begun(masked);
          held = masked.slice(masked.length - length);
          return masked.slice(0, masked.length - length);
        },
        end() {
          const rest = held;
          held = '';
          return rest;
        },
      };
    },
  };
}

/** For a stage without secrets. */
export const NO_MASK: Mask = makeMask([]);

/** Masks every text in a document; member names stay. */
export function maskJson(value: Json, mask: Mask): Json {
  if (typeof value === 'string') return mask.apply(value);
  if (Array.isArray(value)) return value.map(item => maskJson(item, mask));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, maskJson(member, mask)]));
}

/** Masks a text in chunks, and passes safe text on as early as possible. */
export function maskChunks(mask: Mask, onText: (text: string) => void): { write(text: string): void; end(): void } {
  const masked = mask.stream();
  const emit = (text: string): void => {
    if (text !== '') onText(text);
  };
  return { write: text => emit(masked.write(text)), end: () => emit(masked.end()) };
}

/** Reads a text stream through the mask. */
export function readMasked(stream: Readable, mask: Mask, onText: (text: string) => void): void {
  const chunks = maskChunks(mask, onText);
  stream.setEncoding('utf8').on('data', chunks.write).on('end', chunks.end);
}
