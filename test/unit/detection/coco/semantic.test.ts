/** Pixel accuracy, mPA and mIoU against a plain count of pixels. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Json } from '../../../../src/base/json.js';
import { type CocoDataset, parseCocoDataset } from '../../../../src/detection/coco/dataset.js';
import { type CocoResult, parseCocoResults } from '../../../../src/detection/coco/results.js';
import { rasterize } from '../../../../src/detection/coco/segmentation.js';
import { measureSemantic } from '../../../../src/detection/coco/semantic.js';
import { decodeMask } from '../../../../src/detection/masks/rle.js';
import { failureOf } from '../../../support/error-code.js';
import { fixturePath } from '../../../support/fixtures.js';

const sets = JSON.parse(gunzipSync(readFileSync(fixturePath('detection', 'random-figures.json.gz'))).toString()) as {
  readonly truth: Json;
  readonly detections: Json;
}[];

/** Pixel by pixel: from the definitions, with the masks as they are painted by hand. */
function countPlainly({ images, annotations, categories }: CocoDataset, results: readonly CocoResult[], minScore: number) {
  const classes = [0, ...categories.map(({ id }) => Number(id))];
  const right = new Map(classes.map(id => [id, 0]));
  const [truePixels, foundPixels] = [new Map(right), new Map(right)];
  const add = (counts: Map<number, number>, id: number) => counts.set(id, (counts.get(id) ?? 0) + 1);
  let pixels = 0;
  for (const image of images) {
    const top = (masks: readonly { readonly id: number; readonly mask: Uint8Array }[], at: number): number =>
      masks.findLast(({ mask }) => mask[at] === 1)?.id ?? 0;
    const maskOf = (one: { readonly segmentation: CocoResult['segmentation'] }): Uint8Array =>
      one.segmentation === undefined ? new Uint8Array(0) : decodeMask(rasterize(one.segmentation, image));
    const truths = annotations.filter(one => one.imageId === image.id).map(one => ({ id: Number(one.categoryId), mask: maskOf(one) }));
    const found = results
      .filter(one => one.imageId === image.id && one.score >= minScore && classes.includes(Number(one.categoryId)))
      .map((one, place) => ({ id: Number(one.categoryId), mask: maskOf(one), score: one.score, place }))
      .sort((a, b) => a.score - b.score || b.place - a.place);
    for (let at = 0; at < image.height * image.width; at++) {
      const [t, f] = [top(truths, at), top(found, at)];
      pixels++;
      add(truePixels, t);
      add(foundPixels, f);
      if (t === f) add(right, t);
    }
  }
  const of = (counts: Map<number, number>, id: number): number => counts.get(id) ?? 0;
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const union = (id: number): number => of(truePixels, id) + of(foundPixels, id) - of(right, id);
  return {
    pixelAccuracy: classes.reduce((sum, id) => sum + of(right, id), 0) / pixels,
    meanAccuracy: mean(classes.filter(id => of(truePixels, id) > 0).map(id => of(right, id) / of(truePixels, id))),
    meanIou: mean(classes.filter(id => union(id) > 0).map(id => of(right, id) / union(id))),
  };
}

describe('masks as a picture of classes', () => {
  it.each([0, 0.3, 0.5])('from a score of %d the shares are those of a plain count', minScore => {
    for (const { truth, detections } of sets.slice(0, 8)) {
      const dataset = parseCocoDataset(truth);
      const results = parseCocoResults(detections, dataset);
      const { pixelAccuracy, meanAccuracy, meanIou } = measureSemantic(dataset, results, minScore);
      const plain = countPlainly(dataset, results, minScore);
      // The same sums of whole numbers; only means are taken in another order.
      expect(pixelAccuracy).toBeCloseTo(plain.pixelAccuracy, 12);
      expect(meanAccuracy).toBeCloseTo(plain.meanAccuracy, 12);
      expect(meanIou).toBeCloseTo(plain.meanIou, 12);
    }
  });

  it('ground truth against itself has no error', () => {
    const [{ truth } = { truth: null }] = sets;
    const dataset = parseCocoDataset(truth);
    const results = dataset.annotations.map((one, index): CocoResult => ({ ...one, score: (index + 1) / 100 }));
    expect(measureSemantic(dataset, results, 0)).toMatchObject({ pixelAccuracy: 1, meanAccuracy: 1, meanIou: 1 });
  });

  it('an image that no memory holds is refused', async () => {
    const huge = parseCocoDataset({ images: [{ id: 1, width: 40_000, height: 40_000 }], categories: [], annotations: [] });
    expect(await failureOf(() => measureSemantic(huge, [], 0))).toMatchObject({ code: 'image-too-large' });
  });
});
