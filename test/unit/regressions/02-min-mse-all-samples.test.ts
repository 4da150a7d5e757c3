/** Regression 2: MinMSE used the first calibration sample only. */
import { chooseQParams } from '../../../src/quant/range/range.js';
import { QUARK_MIN_MSE } from '../../../src/quant/range/range-method.js';
import { EMPTY_SKETCH, mergeSketches, type Sketch, sketchTensor } from '../../../src/quant/sketch/sketch.js';

const S8 = { dtype: 'int8', symmetric: true, reduceRange: false } as const;
const scaleOf = (sketch: Sketch): number =>
  chooseQParams({ kind: 'seen', name: 'x', sketch, ort: undefined }, QUARK_MIN_MSE, S8).qparams.scale;

/** vai_q_onnx 3.5 looked at the errors of the first sample alone. */
describe('regression 2: MinMSE uses all samples', () => {
  // One outlier among a thousand small values: alone, such a sample is best served by saturating it.
  const narrow = sketchTensor(Float32Array.from({ length: 100_000 }, (_, i) => (i === 0 ? 1 : 0.1 * Math.sin(i))));
  const wide = sketchTensor(Float32Array.from({ length: 100_000 }, (_, i) => Math.sin(i)));

  it('the first sample only would give another scale', () => {
    expect(scaleOf(narrow)).toBeLessThan(scaleOf(wide));
  });

  it('the scale depends on both samples and not on their order', () => {
    expect(scaleOf(mergeSketches(narrow, wide))).toBe(scaleOf(wide));
    expect(scaleOf(mergeSketches(wide, narrow))).toBe(scaleOf(wide));
    expect(scaleOf(mergeSketches(EMPTY_SKETCH, narrow))).toBe(scaleOf(narrow));
  });
});
