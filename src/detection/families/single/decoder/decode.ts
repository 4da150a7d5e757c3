/** Selects the decode function of a recipe's decoder, and lists the outputs that it reads. */
import type { PartValuesByName } from '../../../detector/part-runner.js';
import type { Candidates, DecodeContext } from './candidates.js';
import { decodeAnchors } from './decode-anchors.js';
import { decodeBoxRows, decodePriors } from './decode-boxes.js';
import { decodeDetections } from './decode-detections.js';
import { decodeDistances, decodeJoined } from './decode-distances.js';
import { decodeGrid } from './decode-grid.js';
import { decodeHeatmap } from './decode-heatmap.js';
import { decodeOffsets } from './decode-offsets.js';
import { decodeSelected } from './decode-selected.js';
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
    case 'anchors':
      return (values, context) => decodeAnchors(values, decoder, context);
    case 'joined':
      return (values, context) => decodeJoined(values, decoder, context);
    case 'selected':
      return (values, context) => decodeSelected(values, decoder, context);
    case 'heatmap':
      return (values, context) => decodeHeatmap(values, decoder, context);
    case 'offsets':
      return (values, context) => decodeOffsets(values, decoder, context);
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
      return [decoder.output, ...(decoder.masks === undefined ? [] : [decoder.masks.prototypes])];
    case 'joined':
    case 'selected':
      return [decoder.output];
    case 'anchors':
      return decoder.levels.map(({ output }) => output);
    case 'offsets':
      return decoder.levels.flatMap(({ scores, boxes }) => [scores, boxes]);
    case 'heatmap':
      return [decoder.scores, decoder.sizes, decoder.offsets];
    case 'distances':
      return decoder.levels.flatMap(({ scores, distances, centers }) => [scores, distances, ...(centers === undefined ? [] : [centers])]);
    case 'priors':
    case 'boxes':
      return [decoder.scores, decoder.boxes];
    case 'detections':
      return [decoder.scores, decoder.boxes, decoder.classes, ...[decoder.masks, decoder.keypoints].flatMap(one => one?.output ?? [])];
    case 'module':
      return decoder.outputs;
  }
}
