/** The class of each pixel of an image, from the output of a segmentation network. */
import { formatShape } from '../../tensor/shape.js';
import type { Tensor } from '../../tensor/tensor.js';
import { DetectionError } from '../error/detection-error.js';
import type { ImageSize } from '../image/image-size.js';
import type { Placement } from '../image/placement.js';

/** Row-major classes of an image. */
export interface PixelClasses {
  readonly width: number;
  readonly height: number;
  /** Number of classes; undefined: the network chose them itself. */
  readonly of: number | undefined;
  /** `OUTSIDE` where the network's input does not show the pixel. */
  readonly classes: Int32Array;
}

export const OUTSIDE = -1;

/** The largest class that a network may choose: masks have at most 16 bits per pixel. */
const MOST_CLASS = 65_535;

/**
 * Scores per class, float32 [1, classes, h, w] or [1, h, w, classes], are resized bilinearly to the image, each pixel takes the class with the highest score, and of equal ones
 * the lowest. Classes that the network chose, integers [1, h, w] or [1, 1, h, w], are taken from the nearest cell. Only the cells that show the image count.
 * @throws DetectionError `pixel-scores` for other outputs, scores that are not finite, and chosen classes that are not from 0 to 65535.
 * @see torch.nn.functional.interpolate, mode="bilinear", align_corners=False.
 */
export function findPixelClasses(output: Tensor | undefined, name: string, placement: Placement): PixelClasses {
  const dims = output?.dims ?? [];
  const scores = output?.dtype === 'float32' ? findGrid(output, placement.input) : undefined;
  if (scores !== undefined) return choose(scores.data, scores.grid, placement);
  const chosen = output === undefined ? undefined : readChosen(output);
  if (chosen !== undefined) return take(chosen, name, placement);
  throw new DetectionError(
    'pixel-scores',
    `output "${name}" is ${output?.dtype ?? 'missing'} ${formatShape(dims)}, expected scores float32 [1, classes, height, width] or [1, height, width, classes], or classes int64 [1, height, width]`,
    { help: 'set `output` to the name of the output with a score per class and pixel' },
  );
}

interface Grid {
  readonly channels: number;
  readonly rows: number;
  readonly columns: number;
}

/** Classes are last if the axes before them have the aspect ratio of the input, and the last two have not. */
function findGrid({ dims, data }: Tensor<'float32'>, input: ImageSize): { readonly data: Float32Array; readonly grid: Grid } | undefined {
  const [batch, a = 0, b = 0, c = 0] = dims;
  if (dims.length !== 4 || batch !== 1) return undefined;
  if (c > 1 && isScaled({ height: a, width: b }, input) && !isScaled({ height: b, width: c }, input)) {
    const cells = a * b;
    const planes = new Float32Array(data.length);
    for (let cell = 0; cell < cells; cell++)
      for (let channel = 0; channel < c; channel++) planes[channel * cells + cell] = data[cell * c + channel] as number;
    return { data: planes, grid: { channels: c, rows: a, columns: b } };
  }
  return a > 1 ? { data, grid: { channels: a, rows: b, columns: c } } : undefined;
}

/** Whether both sides are the input's divided by the same number, rounded up or down. */
export function isScaled({ height, width }: ImageSize, input: ImageSize): boolean {
  const fits = (scale: number): boolean => Math.abs(height - input.height / scale) < 1 && Math.abs(width - input.width / scale) < 1;
  return fits(input.height / height) || fits(input.width / width);
}

/** For each pixel of one axis of the image: two cells, and the share of the second; or a share of NaN outside of the input. */
interface AxisCells {
  readonly low: Int32Array;
  readonly high: Int32Array;
  readonly share: Float64Array;
}

/** @param before, scale, original, input place and size of the image in the input on this axis. */
function placeAxis(
  cells: number,
  original: number,
  { before, scale, input }: { readonly before: number; readonly scale: number; readonly input: number },
): AxisCells {
  const [low, high, share] = [new Int32Array(original), new Int32Array(original), new Float64Array(original)];
  const perPixel = cells / input;
  const [start, end] = [Math.max(0, before * perPixel), Math.min(cells, (before + original * scale) * perPixel)];
  for (let pixel = 0; pixel < original; pixel++) {
    const center = (before + (pixel + 0.5) * scale) * perPixel;
    const at = Math.min(Math.max(center - 0.5, start), Math.max(start, end - 1));
    low[pixel] = Math.min(Math.floor(at), cells - 1);
    high[pixel] = Math.min((low[pixel] as number) + 1, cells - 1);
    share[pixel] = center < 0 || center > cells ? Number.NaN : at - (low[pixel] as number);
  }
  return { low, high, share };
}

function placeCells({ rows, columns }: Pick<Grid, 'rows' | 'columns'>, { original, left, top, scaleX, scaleY, input }: Placement) {
  return {
    x: placeAxis(columns, original.width, { before: left, scale: scaleX, input: input.width }),
    y: placeAxis(rows, original.height, { before: top, scale: scaleY, input: input.height }),
  };
}

function choose(scores: Float32Array, grid: Grid, placement: Placement): PixelClasses {
  const { width, height } = placement.original;
  const { x, y } = placeCells(grid, placement);
  const classes = new Int32Array(width * height);
  const best = new Float64Array(width);
  const plane = grid.rows * grid.columns;
  for (let row = 0; row < height; row++) {
    const [top, bottom, down] = [(y.low[row] as number) * grid.columns, (y.high[row] as number) * grid.columns, y.share[row] as number];
    best.fill(Number.NEGATIVE_INFINITY);
    const line = classes.subarray(row * width, (row + 1) * width);
    for (let label = 0; label < grid.channels; label++) {
      const from = label * plane;
      for (let column = 0; column < width; column++) {
        const [a, b, across] = [x.low[column] as number, x.high[column] as number, x.share[column] as number];
        const upper = mix(scores[from + top + a] as number, scores[from + top + b] as number, across);
        const score = mix(upper, mix(scores[from + bottom + a] as number, scores[from + bottom + b] as number, across), down);
        if (score > (best[column] as number)) {
          best[column] = score;
          line[column] = label;
        }
      }
    }
    for (let column = 0; column < width; column++) {
      if (Number.isNaN(x.share[column]) || Number.isNaN(down)) line[column] = OUTSIDE;
      else if (!Number.isFinite(best[column])) throw new DetectionError('pixel-scores', 'the output has scores that are not finite');
    }
  }
  return { width, height, of: grid.channels, classes };
}

const mix = (a: number, b: number, share: number): number => a * (1 - share) + b * share;

function readChosen({
  dims,
  data,
  dtype,
}: Tensor): { readonly rows: number; readonly columns: number; readonly data: ArrayLike<number | bigint> } | undefined {
  const [rows, columns] = dims.slice(-2);
  const leading = dims.slice(0, -2);
  if (!/^u?int/.test(dtype) || dtype === 'int4' || dtype === 'uint4' || rows === undefined || columns === undefined) return undefined;
  return leading.length <= 2 && leading.every(dim => dim === 1) ? { rows, columns, data: data as ArrayLike<number | bigint> } : undefined;
}

function take(chosen: NonNullable<ReturnType<typeof readChosen>>, name: string, placement: Placement): PixelClasses {
  const { width, height } = placement.original;
  const { x, y } = placeCells(chosen, placement);
  const classes = new Int32Array(width * height);
  const cellOf = ({ low, share }: AxisCells, pixel: number, cells: number): number =>
    Math.min((low[pixel] as number) + ((share[pixel] as number) >= 0.5 ? 1 : 0), cells - 1);
  for (let row = 0; row < height; row++)
    for (let column = 0; column < width; column++) {
      const isOutside = Number.isNaN(x.share[column]) || Number.isNaN(y.share[row]);
      const at = cellOf(y, row, chosen.rows) * chosen.columns + cellOf(x, column, chosen.columns);
      classes[row * width + column] = isOutside ? OUTSIDE : checkClass(chosen.data[at] ?? -1, name);
    }
  return { width, height, of: undefined, classes };
}

function checkClass(chosen: number | bigint, name: string): number {
  if (chosen >= 0 && chosen <= MOST_CLASS) return Number(chosen);
  throw new DetectionError('pixel-scores', `output "${name}" has the class ${chosen}, expected classes from 0 to ${MOST_CLASS}`, {
    help: 'set `output` to the one with a class per pixel',
  });
}
