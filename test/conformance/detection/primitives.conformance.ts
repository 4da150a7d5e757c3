/** Host primitives against recorded tensors between the parts of torchvision's Mask R-CNN, for three images. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sigmoid, softmaxRows } from '../../../src/detection/detector/activations.js';
import { makeAnchors } from '../../../src/detection/geometry/anchors.js';
import { decodeBoxes } from '../../../src/detection/geometry/box-coder.js';
import { clipBoxes, findLargeBoxes, gatherBoxes } from '../../../src/detection/geometry/boxes.js';
import { batchedNonMaximumSuppression } from '../../../src/detection/geometry/nms.js';
import type { FeatureMap } from '../../../src/detection/geometry/roi-align.js';
import { poolFromPyramid } from '../../../src/detection/geometry/roi-pyramid.js';
import { topK } from '../../../src/detection/geometry/top-k.js';
import { decodeImage } from '../../../src/detection/image/decode-image.js';
import { fitImage } from '../../../src/detection/image/fit-image.js';
import { type NpzArchive, readNpz } from '../../../src/tensor/formats/npz.js';
import { maxDifference } from '../../support/max-difference.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder();
const CANONICAL = { canonicalScale: 224, canonicalLevel: 4, samplingRatio: 2 };
const LEVELS = [0, 1, 2, 3, 4];
const INPUT = { height: 192, width: 256 };
const CLASSES = 12;

const open = (id: number): Promise<NpzArchive> => readNpz(join(shared ?? '', `shapes/maskrcnn/stages_${id}.npz`));

function standardDeviation(values: Float32Array): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}

function readMaps(arrays: NpzArchive): [FeatureMap, ...FeatureMap[]] {
  const map = (level: number): FeatureMap => {
    const { data, dims } = arrays.getFloat32(`feature_${level}`);
    const [, channels = 0, height = 0, width = 0] = dims;
    return { data, channels, height, width, scale: 1 / (4 << level) };
  };
  return [map(0), map(1), map(2), map(3)];
}

/** [1, A·k, h, w] as rows h, w, A of k values. */
function toRows(data: Float32Array, anchors: number, values: number): Float32Array {
  const area = data.length / anchors / values;
  return Float32Array.from(data, (_, i) => {
    const [value, anchor, cell] = [i % values, Math.floor(i / values) % anchors, Math.floor(i / values / anchors)];
    return data[(anchor * values + value) * area + cell] ?? Number.NaN;
  });
}

function propose(arrays: NpzArchive, anchors: Float32Array): Float32Array {
  const picked: { box: Float32Array; score: number; level: number }[] = [];
  let offset = 0;
  for (const level of LEVELS) {
    const logits = toRows(arrays.getFloat32(`objectness_${level}`).data, 3, 1);
    const deltas = toRows(arrays.getFloat32(`rpn_deltas_${level}`).data, 3, 4);
    const best = topK(logits, 400);
    const references = gatherBoxes(anchors.subarray(4 * offset, 4 * (offset + logits.length)), best);
    const boxes = clipBoxes(decodeBoxes(gatherBoxes(deltas, best), references, [1, 1, 1, 1]), INPUT);
    const scores = sigmoid(Float32Array.from(best, i => logits[i] ?? Number.NaN));
    for (const i of findLargeBoxes(boxes, 1e-3)) picked.push({ box: boxes.slice(4 * i, 4 * i + 4), score: scores[i] ?? 0, level });
    offset += logits.length;
  }
  const boxes = Float32Array.from(picked.flatMap(({ box }) => [...box]));
  const scores = Float32Array.from(picked, ({ score }) => score);
  const kept = batchedNonMaximumSuppression(
    boxes,
    scores,
    picked.map(({ level }) => level),
    0.7,
  );
  return gatherBoxes(boxes, kept.slice(0, 200));
}

function detect(arrays: NpzArchive): { boxes: Float32Array; scores: Float32Array; labels: number[] } {
  const probabilities = softmaxRows(arrays.getFloat32('class_logits').data, CLASSES);
  const all = clipBoxes(decodeBoxes(arrays.getFloat32('box_regression').data, arrays.getFloat32('proposals').data, [10, 10, 5, 5]), INPUT);
  const candidates = [...probabilities.keys()].filter(i => i % CLASSES !== 0 && (probabilities[i] ?? 0) > 0.05);
  const large = new Set(findLargeBoxes(all, 1e-2));
  const chosen = candidates.filter(i => large.has(i));
  const scores = Float32Array.from(chosen, i => probabilities[i] ?? 0);
  const labels = chosen.map(i => i % CLASSES);
  const boxes = gatherBoxes(all, chosen);
  const kept = batchedNonMaximumSuppression(boxes, scores, labels, 0.5).slice(0, 100);
  return {
    boxes: gatherBoxes(boxes, kept),
    scores: Float32Array.from(kept, i => scores[i] ?? 0),
    labels: kept.map(i => labels[i] ?? 0),
  };
}

(shared === undefined ? describe.skip : describe).each([1000, 1007, 1014])('torchvision between the parts, image %i', id => {
  it('the input tensor is met bit for bit', async () => {
    const file = join(shared ?? '', `shapes/data/val/00000000${id}.jpg`);
    const image = await decodeImage(await readFile(file), file);
    const fitted = fitImage(image, { kind: 'static', ...INPUT }, { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] });
    expect(maxDifference(fitted.tensor.data, (await open(id)).getFloat32('input').data)).toBe(0);
  });

  it('anchors are equal', async () => {
    const sizes = [8, 16, 32, 64, 128];
    const levels = sizes.map((size, i) => ({ sizes: [size], aspectRatios: [0.5, 1, 2], height: Math.ceil(48 >> i), width: 64 >> i }));
    expect(maxDifference(makeAnchors(levels, INPUT), (await open(id)).getFloat32('anchors').data)).toBe(0);
  });

  it('proposals from recorded head outputs are the recorded ones, in order', async () => {
    const arrays = await open(id);
    // Pixels on 256: the rounding of exp and of shifted coordinates in torchvision's batched suppression.
    expect(maxDifference(propose(arrays, arrays.getFloat32('anchors').data), arrays.getFloat32('proposals').data)).toBeLessThan(1e-4);
  });

  it.each([
    ['box_features', 'proposals', 7],
    ['mask_features', 'boxes', 14],
  ] as const)('%s pooled from %s', async (name, boxes, size) => {
    const arrays = await open(id);
    const expected = arrays.getFloat32(name).data;
    const pooled = poolFromPyramid(readMaps(arrays), arrays.getFloat32(boxes).data, { ...CANONICAL, size });
    // Float32 sums of four products per point: torch rounds each, we round the bin.
    expect(maxDifference(pooled, expected) / standardDeviation(expected)).toBeLessThan(1e-5);
  });

  it('detections from recorded head outputs are the recorded ones', async () => {
    const arrays = await open(id);
    const { boxes, scores, labels } = detect(arrays);
    const recorded = arrays.get('labels').data as BigInt64Array;
    expect(labels).toEqual(Array.from(recorded, Number));
    expect(maxDifference(scores, arrays.getFloat32('scores').data)).toBeLessThan(1e-6);
    expect(maxDifference(boxes, arrays.getFloat32('boxes').data)).toBeLessThan(1e-4);
  });
});
