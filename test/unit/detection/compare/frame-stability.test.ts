/** Stability of objects over video frames, on cases that can be computed by hand. */
import { type FrameObjects, followFrames, STABILITY_RULE, summarizeStability } from '../../../../src/detection/compare/frame-stability.js';
import { encodeMask } from '../../../../src/detection/masks/rle.js';

type Found = readonly [label: number, score: number, box: readonly [number, number, number, number]];

const SIZE = 20;

/** The mask is the box. */
function frame(...found: readonly Found[]): FrameObjects {
  return {
    boxes: Float32Array.from(found.flatMap(([, , box]) => box)),
    scores: Float32Array.from(found, ([, score]) => score),
    labels: found.map(([label]) => label),
    masks: found.map(([, , [x1, y1, x2, y2]]) => {
      const inside = (at: number): number => {
        const [x, y] = [at % SIZE, Math.floor(at / SIZE)];
        return x >= x1 && x < x2 && y >= y1 && y < y2 ? 1 : 0;
      };
      return encodeMask(
        Array.from({ length: SIZE * SIZE }, (_, at) => inside(at)),
        SIZE,
        SIZE,
      );
    }),
  };
}

const still: Found = [1, 0.75, [0, 0, 10, 10]];
const moved: Found = [1, 0.5, [0, 0, 10, 8]];
const other: Found = [2, 1, [0, 0, 10, 10]];
const empty = frame();

describe('from frame to frame', () => {
  it('IoU of boxes and masks and the change of the score are those of the same object', () => {
    const stability = summarizeStability([followFrames([frame(still), frame(moved), frame(moved)], STABILITY_RULE)]);
    expect(stability).toMatchObject({ steps: 2, objects: 3, kept: 2, vanished: 0, appeared: 0, flickers: 0 });
    expect(stability.meanBoxIou).toBeCloseTo(0.9, 6);
    expect(stability.lowBoxIou).toBeCloseTo(0.8, 6);
    expect(stability.meanMaskIou).toBeCloseTo(0.9, 12);
    expect(stability.scoreJitter).toBe(0.125);
  });

  it('another class is another object, and one below the score is none', () => {
    const steps = followFrames([frame(still), frame(other), frame([2, 0.49, [0, 0, 10, 10]])], STABILITY_RULE);
    expect(steps.map(({ kept, vanished, appeared }) => [kept.length, vanished, appeared])).toEqual([
      [0, 1, 1],
      [0, 1, 0],
    ]);
  });

  it('an object that disappears and returns at the same location flickers once', () => {
    const steps = followFrames([frame(still), empty, empty, frame(moved), frame(moved)], STABILITY_RULE);
    expect(steps.map(({ returned }) => returned)).toEqual([0, 0, 1, 0]);
    expect(summarizeStability([steps])).toMatchObject({ vanished: 1, appeared: 1, flickers: 1 });
  });

  it.each([
    ['after more frames than the longest gap', [empty, empty, empty, frame(still)]],
    ['at another place', [empty, frame([1, 0.75, [10, 10, 20, 20]])]],
    ['as another class', [empty, frame(other)]],
  ])('what comes %s is new', (_, later) => {
    const steps = followFrames([frame(still), ...later], { ...STABILITY_RULE, longestGap: 2 });
    expect(summarizeStability([steps])).toMatchObject({ vanished: 1, appeared: 1, flickers: 0 });
  });

  it('two that vanished at one place return as two', () => {
    const steps = followFrames([frame(still, moved), empty, frame(still), frame(still, moved)], STABILITY_RULE);
    expect(steps.map(({ returned }) => returned)).toEqual([0, 1, 1]);
  });

  it('without masks and without objects the metric is undefined', () => {
    const boxesAlone = { ...frame(still), masks: [undefined] };
    const one = summarizeStability([followFrames([boxesAlone, boxesAlone], STABILITY_RULE)]);
    expect([one.meanBoxIou, one.meanMaskIou, one.lowMaskIou]).toEqual([1, undefined, undefined]);
    expect(summarizeStability([followFrames([empty, empty], STABILITY_RULE), followFrames([empty], STABILITY_RULE)])).toEqual({
      steps: 1,
      objects: 0,
      kept: 0,
      meanBoxIou: undefined,
      lowBoxIou: undefined,
      meanMaskIou: undefined,
      lowMaskIou: undefined,
      scoreJitter: undefined,
      vanished: 0,
      appeared: 0,
      flickers: 0,
    });
  });
});
