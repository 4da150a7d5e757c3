/** Histograms of calibration sketches: the form of docs/formats.md, decoded for drawing. */
import type { GridHistogram } from '../../../report/bars.js';

/** The parts of a file of sketches that the page uses. */
export interface SketchesFile {
  readonly values?: readonly {
    readonly name: string;
    readonly sketch: { readonly histograms?: readonly { readonly exponent: number; readonly first: number; readonly counts: string }[] };
  }[];
}

export function findHistograms({ values = [] }: SketchesFile, name: string): readonly GridHistogram[] {
  const found = values.find(value => value.name === name)?.sketch.histograms ?? [];
  return found
    .map(({ exponent, first, counts }) => ({ exponent, first, counts: decodeCounts(counts) }))
    .filter(({ counts }) => counts.length > 0);
}

/** Seven bits per byte, low bits first; the high bit is set on all bytes of a count but the last. */
export function decodeCounts(text: string): Float64Array {
  const bytes = atob(text);
  const counts: number[] = [];
  let [count, unit] = [0, 1];
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes.charCodeAt(i);
    count += (byte & 127) * unit;
    if (byte >= 128) unit *= 128;
    else {
      counts.push(count);
      [count, unit] = [0, 1];
    }
  }
  return Float64Array.from(counts);
}
