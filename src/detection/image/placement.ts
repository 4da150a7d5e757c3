/** Size and position of an image in the input of a model, and the scale to map boxes back. */
import { roundHalfEven } from '../../base/round-half-even.js';
import { DetectionError } from '../error/detection-error.js';
import type { ImageSize } from './image-size.js';
import type { Preprocessing } from './preprocessing-schema.js';

/** How an image is brought to the model's height and width. */
export type Placing = Pick<Preprocessing, 'resize' | 'shorterSide' | 'longerSide' | 'sizes' | 'place'>;

/** Input size of a model; undefined if it is free. */
export interface InputSize {
  readonly height: number | undefined;
  readonly width: number | undefined;
}

export interface Placement {
  /** Size of the decoded image. */
  readonly original: ImageSize;
  /** Size of the resized image. */
  readonly scaled: ImageSize;
  /** Size of the model's input. */
  readonly input: ImageSize;
  /** Position of the resized image's upper left corner in the input; negative where the image is cropped. */
  readonly left: number;
  readonly top: number;
  /** Input pixels per image pixel. Where the aspect ratio is kept, both equal the ratio before sizes were rounded. */
  readonly scaleX: number;
  readonly scaleY: number;
}

/** Limit of the resized image, as of decoded ones. An image one pixel high would exceed it with 'crop'. */
const MOST_PIXELS = 100_000_000;

/** @throws DetectionError `input-size` where the size cannot be reached; `image-too-narrow` where a side would have less than one pixel, or the resized image too many. */
export function placeImage(original: ImageSize, size: InputSize, placing: Placing): Placement {
  const placement = place(original, size, placing);
  const { scaled } = placement;
  if (scaled.height < 1 || scaled.width < 1)
    throw new DetectionError(
      'image-too-narrow',
      `an image of ${original.width}×${original.height} pixels would be resized to less than one pixel in a side`,
      {
        help: 'crop or remove the image',
      },
    );
  if (scaled.height * scaled.width > MOST_PIXELS)
    throw new DetectionError(
      'image-too-narrow',
      `an image of ${original.width}×${original.height} pixels would be resized to ${scaled.width}×${scaled.height}, more than ${MOST_PIXELS} pixels`,
      { help: 'crop or remove the image' },
    );
  return placement;
}

function place(original: ImageSize, size: InputSize, placing: Placing): Placement {
  const { resize } = placing;
  switch (resize) {
    case 'none':
      return { ...fill(original, requireEqual(original, size, 'set `resize` to stretch, crop or pad')), scaleX: 1, scaleY: 1 };
    case 'stretch':
      return fill(original, requireFixed(size, 'stretch'));
    case 'crop':
      return crop(original, requireFixed(size, 'crop'), placing);
    case 'pad':
      return pad(original, requireFixed(size, 'pad'), placing);
    case 'shorter': {
      const ratio = ratioOfShorter(original, placing);
      const scaled = scale(original, ratio, placing);
      const input = requireEqual(scaled, size, 'export the model with free height and width, or set `resize` to pad');
      return { ...fill(original, input), scaleX: ratio, scaleY: ratio };
    }
  }
}

function fill(original: ImageSize, input: ImageSize): Placement {
  return {
    original,
    scaled: input,
    input,
    left: 0,
    top: 0,
    scaleX: input.width / original.width,
    scaleY: input.height / original.height,
  };
}

function crop(original: ImageSize, input: ImageSize, placing: Placing): Placement {
  const least = Math.max(input.height, input.width);
  const ratio = (placing.shorterSide ?? least) / Math.min(original.height, original.width);
  const scaled = scale(original, ratio, placing);
  if (scaled.height < input.height || scaled.width < input.width)
    throw wrongSize(scaled, input, `set \`shorterSide\` to at least ${least}`);
  const [left, top] = [-Math.floor((scaled.width - input.width) / 2), -Math.floor((scaled.height - input.height) / 2)];
  return { original, scaled, input, left, top, scaleX: ratio, scaleY: ratio };
}

function pad(original: ImageSize, input: ImageSize, placing: Placing): Placement {
  const ratio = Math.min(input.height / original.height, input.width / original.width);
  const scaled = scale(original, ratio, placing);
  const centered = placing.place === 'center';
  const left = centered ? Math.floor((input.width - scaled.width) / 2) : 0;
  const top = centered ? Math.floor((input.height - scaled.height) / 2) : 0;
  return { original, scaled, input, left, top, scaleX: ratio, scaleY: ratio };
}

function ratioOfShorter({ height, width }: ImageSize, { shorterSide, longerSide = Number.POSITIVE_INFINITY }: Placing): number {
  if (shorterSide === undefined)
    throw new DetectionError('input-size', '`resize: shorter` needs `shorterSide`', {
      help: 'set `shorterSide`, and `longerSide` if it is limited',
    });
  const [shorter, longer] = [Math.min(height, width), Math.max(height, width)];
  const ratio = shorterSide / shorter;
  return longer * ratio > longerSide ? longerSide / longer : ratio;
}

/** The side that the ratio was computed for must keep its integer size despite rounding errors. */
function scale({ height, width }: ImageSize, ratio: number, { sizes }: Placing): ImageSize {
  const round = (side: number) => {
    const exact = side * ratio;
    const near = Math.round(exact);
    if (Math.abs(exact - near) < 1e-9 * near) return near;
    return sizes === 'down' ? Math.trunc(exact) : roundHalfEven(exact);
  };
  return { height: round(height), width: round(width) };
}

function requireFixed({ height, width }: InputSize, resize: string): ImageSize {
  if (height !== undefined && width !== undefined) return { height, width };
  throw new DetectionError('input-size', `the model has free height and width, and \`resize: ${resize}\` needs a fixed size`, {
    help: 'pin the shapes (`import`), or set `resize: shorter`',
  });
}

function requireEqual(found: ImageSize, { height, width }: InputSize, help: string): ImageSize {
  const wanted = { height: height ?? found.height, width: width ?? found.width };
  if (wanted.height !== found.height || wanted.width !== found.width) throw wrongSize(found, wanted, help);
  return wanted;
}

function wrongSize(found: ImageSize, wanted: ImageSize, help: string): DetectionError {
  return new DetectionError('input-size', `the image is ${found.width}×${found.height}, the model takes ${wanted.width}×${wanted.height}`, {
    help,
  });
}
