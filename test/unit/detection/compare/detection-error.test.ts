/** The distance of detections: pairs, objects without partners, and what it does not depend on. */
import { measureDetectionError } from '../../../../src/detection/compare/detection-error.js';

interface Found {
  readonly box: readonly [number, number, number, number];
  readonly score: number;
  readonly label: number;
}

const boxesOf = (found: readonly Found[]) => ({
  boxes: Float32Array.from(found.flatMap(({ box }) => [...box])),
  scores: Float32Array.from(found, ({ score }) => score),
  labels: found.map(({ label }) => label),
});

const distance = (a: readonly Found[], b: readonly Found[]) => measureDetectionError(boxesOf(a), boxesOf(b));

const CAT: Found = { box: [0, 0, 10, 10], score: 0.75, label: 1 };
const DOG: Found = { box: [20, 20, 40, 30], score: 0.5, label: 2 };

it.each<[string, readonly Found[], readonly Found[], number]>([
  ['equal detections', [CAT, DOG], [DOG, CAT], 0],
  ['another score', [CAT, DOG], [{ ...CAT, score: 0.25 }, DOG], 0.25],
  // IoU 8 / 10.
  ['another box', [CAT], [{ ...CAT, box: [0, 0, 8, 10] }], (0.75 * 0.2) ** 2],
  ['a missed object', [CAT, DOG], [DOG], 0.75 ** 2],
  ['an object too many', [CAT], [CAT, DOG], 0.5 ** 2],
  ['another class', [CAT], [{ ...CAT, label: 2 }], 2 * 0.75 ** 2],
  ['a box far away', [CAT], [{ ...CAT, box: [6, 0, 16, 10] }], 2 * 0.75 ** 2],
  ['nothing', [], [], 0],
])('%s', (_name, reference, candidate, expected) => {
  // Scores and IoUs are float32.
  expect(distance(reference, candidate).error).toBeCloseTo(expected, 6);
});

it('the signal is the cost of finding nothing', () => {
  expect(distance([CAT, DOG], []).error).toBeCloseTo(distance([CAT, DOG], [CAT]).signal, 6);
});
