/** Selects the decode function of a recipe's decoder, and lists the outputs that it reads. */
import type { PartValuesByName } from '../../../detector/part-runner.js';
import type { Candidates, DecodeContext } from './candidates.js';
import { decodeBoxRows, decodePriors } from './decode-boxes.js';
import { decodeDetections } from './decode-detections.js';
import { decodeDistances } from './decode-distances.js';
import { decodeGrid } from './decode-grid.js';
import type { Decoder } from './decoder.js';
import { loadDecoder } from './decoder-module.js';

/** @throws DetectionError `decoder-shape`, `decoder-result`, `part-values`. */
export type Decode = (values: PartValuesByName, context: DecodeContext) => Candidates;

/** @throws DetectionError `decoder-module`. */
export async function openDecode(decoder: Decoder): Promise<Decode> {
  switch (decoder.kind) {
    case 'grid':
      return (values, context) => decodeGrid(values, decoder, context);
    case 'distances':
      return (values, context) => decodeDistances(values, decoder, context);
    case 'priors':
      return (values, context) => decodePriors(values, decoder, context);
    case 'boxes':
      return (values, context) => decodeBoxRows(values, decoder, context);
    case 'detections':
      return (values, context) => decodeDetections(values, decoder, context);
    case 'module':
      return loadDecoder(decoder);
  }
}

/** The model outputs that a decoder reads, without duplicates, in the order of its settings. */
export function listDecodedOutputs(decoder: Decoder): readonly string[] {
  return [...new Set(outputsOf(decoder))];
}

function outputsOf(decoder: Decoder): readonly string[] {
  switch (decoder.kind) {
    case 'grid':
      return [decoder.output];
    case 'distances':
      return decoder.levels.flatMap(({ scores, distances }) => [scores, distances]);
    case 'priors':
    case 'boxes':
      return [decoder.scores, decoder.boxes];
    case 'detections':
      return [decoder.scores, decoder.boxes, decoder.classes, ...(decoder.masks === undefined ? [] : [decoder.masks.output])];
    case 'module':
      return decoder.outputs;
  }
}
