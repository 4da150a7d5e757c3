/** Histograms of calibration sketches, decoded for drawing. */
import type { EncodedSketches } from '../../../quant/calibration/model-sketches.js';
import { decodeCountBytes } from '../../../quant/sketch/counts-codec.js';
import type { GridHistogram } from '../../../report/bars.js';

/** @throws QuantError `bad-sketches`. */
export function findHistograms({ values }: EncodedSketches, name: string): readonly GridHistogram[] {
  const found = values.find(value => value.name === name)?.sketch.histograms ?? [];
  return found
    .map(({ exponent, first, counts }) => ({ exponent, first, counts: decodeCountBytes(decodeBase64(counts)) }))
    .filter(({ counts }) => counts.length > 0);
}

function decodeBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), character => character.charCodeAt(0));
}
