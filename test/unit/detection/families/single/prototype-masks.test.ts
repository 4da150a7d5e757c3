/**
 * Masks of YOLO's segmentation networks. Oracle: the definition in PyTorch 2.13 (the product, the cells without padding, `interpolate`, the crop, the
 * comparison with 0), recorded in fixtures/detection/yolo-seg; no value is nearer to 0 than 8e-5, so that rounding decides nothing.
 */
import { readFileSync } from 'node:fs';
import { assemblePrototypeMasks } from '../../../../../src/detection/families/single/prototype-masks.js';
import type { Placement } from '../../../../../src/detection/image/placement.js';
import { fixturePath } from '../../../../support/fixtures.js';

interface Recorded {
  readonly image: readonly [number, number];
  readonly input: readonly [number, number];
  readonly place: string;
  readonly left: number;
  readonly top: number;
  readonly scale: readonly [number, number];
  readonly prototypes: { readonly shape: readonly [number, number, number]; readonly data: readonly number[] };
  readonly coefficients: readonly (readonly number[])[];
  readonly boxes: readonly (readonly number[])[];
  readonly masks: readonly (readonly number[])[];
}

const recorded = JSON.parse(readFileSync(fixturePath('detection/yolo-seg/masks.json'), 'utf8')) as readonly Recorded[];

it.each(
  recorded.map(one => [`${one.image.join('×')} in ${one.input.join('×')}, ${one.place}`, one] as const),
)('of an image of %s are those of PyTorch', (_, one) => {
  const [channels, height, width] = one.prototypes.shape;
  const original = { height: one.image[0], width: one.image[1] };
  const [scaleX, scaleY] = one.scale;
  const placement: Placement = {
    original,
    scaled: { height: Math.round(original.height * scaleY), width: Math.round(original.width * scaleX) },
    input: { height: one.input[0], width: one.input[1] },
    left: one.left,
    top: one.top,
    scaleX,
    scaleY,
  };
  const masks = {
    kind: 'prototypes',
    coefficients: Float32Array.from(one.coefficients.flat()),
    channels,
    height,
    width,
    data: Float32Array.from(one.prototypes.data),
    threshold: 0.5,
  } as const;
  const kept = [2, 0, 1];
  const boxes = Float32Array.from(kept.flatMap(index => one.boxes[index] ?? []));
  const found = assemblePrototypeMasks(masks, kept, boxes, placement);
  expect(found.map(({ counts }) => [...counts])).toEqual(kept.map(index => one.masks[index]));
  expect(found[0]).toMatchObject(original);
});
