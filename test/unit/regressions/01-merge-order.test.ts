/** Regression 1: the order of calibration samples changed the sketches. */
import fc from 'fast-check';
import { EMPTY_SKETCH, mergeSketches, sketchTensor } from '../../../src/quant/sketch/sketch.js';
import { encodeSketch } from '../../../src/quant/sketch/sketch-codec.js';

/** Calibrators whose bins follow the first batch depend on the order of samples. */
describe('regression 1: calibration does not depend on the order of samples', () => {
  it('samples of very different sizes give the same bytes in every order', () => {
    const sample = fc
      .tuple(fc.array(fc.float({ noNaN: true, min: -1, max: 1 }), { minLength: 1, maxLength: 30 }), fc.integer({ min: -60, max: 60 }))
      .map(([values, power]) => sketchTensor(Float32Array.from(values, x => x * 2 ** power)));
    fc.assert(
      fc.property(
        fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 }),
        fc.array(sample, { minLength: 5, maxLength: 5 }),
        (order, samples) => {
          const inOrder = samples.reduce(mergeSketches, EMPTY_SKETCH);
          const shuffled = order.map(i => samples[i] ?? EMPTY_SKETCH).reduceRight((total, one) => mergeSketches(one, total), EMPTY_SKETCH);
          expect(JSON.stringify(encodeSketch(shuffled))).toBe(JSON.stringify(encodeSketch(inOrder)));
        },
      ),
    );
  });
});
