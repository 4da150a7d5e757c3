/** Where does an image lie in a model's input? Its size there and its corner, so that boxes find the way back. */
import { DetectionError } from '../error/detection-error.js';
import type { Plane } from './resize.js';

export interface Placing {
  /**
   * How an image comes to the model's height and width: 'none', it must have them; 'stretch', aspect not kept; 'crop', the shorter side becomes
   * `shorterSide` and the middle is cut out; 'pad', as large as fits, the rest `fill`; 'shorter', the shorter side becomes `shorterSide` unless
   * the longer then exceeds `longerSide`, for models of free height and width.
   */
  readonly resize: 'none' | 'stretch' | 'crop' | 'pad' | 'shorter';
  /** With 'crop' and 'shorter'; the larger of the model's height and width where absent. */
  readonly shorterSide?: number;
  /** With 'shorter'; no limit where absent. */
  readonly longerSide?: number;
  /** How side · ratio becomes a whole number; 'nearest' takes halves to even. */
  readonly sizes: 'down' | 'nearest';
  /** With 'pad': in which place the image lies. */
  readonly place: 'corner' | 'center';
}

/** What the model fixes; undefined where it takes any size. */
export interface InputSize {
  readonly height: number | undefined;
  readonly width: number | undefined;
}

export interface Placement {
  /** The image as it was decoded. */
  readonly original: Plane;
  /** The image as it is resized. */
  readonly scaled: Plane;
  /** The model's input. */
  readonly input: Plane;
  /** Where the resized image's upper left corner lies in the input: negative where it is cut off. */
  readonly left: number;
  readonly top: number;
  /** Input pixels per pixel of the image. Where the aspect is kept, both are the one ratio, before sizes were made whole. */
  readonly scaleX: number;
  readonly scaleY: number;
}

/** As many as an image may have: a line of one pixel's height that is cropped must not become more. */
const MOST_PIXELS = 100_000_000;

/** @throws DetectionError `input-size` where a size cannot be reached, `image-too-narrow` where no pixel would be left in a side, or the other had too many. */
export function placeImage(original: Plane, size: InputSize, placing: Placing): Placement {
  const placement = place(original, size, placing);
  const { scaled } = placement;
  if (scaled.height < 1 || scaled.width < 1)
    throw new DetectionError(
      'image-too-narrow',
      `an image of ${original.width}×${original.height} pixels would have no pixel left in a side`,
      {
        help: 'crop the image, or leave it out',
      },
    );
  if (scaled.height * scaled.width > MOST_PIXELS)
    throw new DetectionError(
      'image-too-narrow',
      `an image of ${original.width}×${original.height} pixels would be resized to ${scaled.width}×${scaled.height}, more than ${MOST_PIXELS} pixels`,
      { help: 'crop the image, or leave it out' },
    );
  return placement;
}

function place(original: Plane, size: InputSize, placing: Placing): Placement {
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
      const input = requireEqual(scaled, size, 'give the model free height and width, or set `resize` to pad');
      return { ...fill(original, input), scaleX: ratio, scaleY: ratio };
    }
  }
}

function fill(original: Plane, input: Plane): Placement {
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

function crop(original: Plane, input: Plane, placing: Placing): Placement {
  const least = Math.max(input.height, input.width);
  const ratio = (placing.shorterSide ?? least) / Math.min(original.height, original.width);
  const scaled = scale(original, ratio, placing);
  if (scaled.height < input.height || scaled.width < input.width)
    throw wrongSize(scaled, input, `set \`shorterSide\` to at least ${least}`);
  const [left, top] = [-Math.floor((scaled.width - input.width) / 2), -Math.floor((scaled.height - input.height) / 2)];
  return { original, scaled, input, left, top, scaleX: ratio, scaleY: ratio };
}

function pad(original: Plane, input: Plane, placing: Placing): Placement {
  const ratio = Math.min(input.height / original.height, input.width / original.width);
  const scaled = scale(original, ratio, placing);
  const centered = placing.place === 'center';
  const left = centered ? Math.floor((input.width - scaled.width) / 2) : 0;
  const top = centered ? Math.floor((input.height - scaled.height) / 2) : 0;
  return { original, scaled, input, left, top, scaleX: ratio, scaleY: ratio };
}

function ratioOfShorter({ height, width }: Plane, { shorterSide, longerSide = Number.POSITIVE_INFINITY }: Placing): number {
  if (shorterSide === undefined)
    throw new DetectionError('input-size', '`resize: shorter` needs `shorterSide`', {
      help: 'set `shorterSide`, and `longerSide` where it is limited',
    });
  const [shorter, longer] = [Math.min(height, width), Math.max(height, width)];
  const ratio = shorterSide / shorter;
  return longer * ratio > longerSide ? longerSide / longer : ratio;
}

/** The side that the ratio was made for comes out whole by itself: a last bit must not take a pixel from it. */
function scale({ height, width }: Plane, ratio: number, { sizes }: Placing): Plane {
  const whole = (side: number) => {
    const exact = side * ratio;
    const near = Math.round(exact);
    if (Math.abs(exact - near) < 1e-9 * near) return near;
    return sizes === 'down' ? Math.trunc(exact) : halvesToEven(exact);
  };
  return { height: whole(height), width: whole(width) };
}

function halvesToEven(value: number): number {
  const near = Math.round(value);
  return near - value === 0.5 && near % 2 !== 0 ? near - 1 : near;
}

function requireFixed({ height, width }: InputSize, resize: string): Plane {
  if (height !== undefined && width !== undefined) return { height, width };
  throw new DetectionError('input-size', `the model takes any height and width: \`resize: ${resize}\` has no size to reach`, {
    help: 'pin the shapes (`import`), or set `resize: shorter`',
  });
}

function requireEqual(found: Plane, { height, width }: InputSize, help: string): Plane {
  const wanted = { height: height ?? found.height, width: width ?? found.width };
  if (wanted.height !== found.height || wanted.width !== found.width) throw wrongSize(found, wanted, help);
  return wanted;
}

function wrongSize(found: Plane, wanted: Plane, help: string): DetectionError {
  return new DetectionError('input-size', `the image is ${found.width}×${found.height}, the model takes ${wanted.width}×${wanted.height}`, {
    help,
  });
}
