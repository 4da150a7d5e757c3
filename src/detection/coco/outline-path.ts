/** The outline of a mask as a path of SVG. */
import { DetectionError } from '../error/detection-error.js';
import type { ImageSize } from '../image/image-size.js';
import { traceOutlines } from '../masks/mask-outline.js';
import { type Rle, rleBox } from '../masks/rle.js';
import { rasterize, type Segmentation } from './segmentation.js';

/** A larger region is not drawn: files of others may state any size. */
const MOST_PIXELS = 16_000_000;

/** undefined without a mask, for one that is invalid or empty, and for one that is too large. Filled by the even-odd rule, the path is the mask. */
export function outlineOf(segmentation: Segmentation | undefined, image: ImageSize): string | undefined {
  const rle = segmentation === undefined ? undefined : tryRasterize(segmentation, image);
  if (rle === undefined) return undefined;
  const [left, top, width, height] = rleBox(rle);
  if (width * height === 0 || width * height > MOST_PIXELS) return undefined;
  const mask = cropMask(rle, { left, top, width, height });
  return traceOutlines(mask, height, width)
    .map(corners => {
      let path = '';
      for (let i = 0; i < corners.length; i += 2)
        path += `${i === 0 ? 'M' : 'L'}${left + (corners[i] ?? 0)} ${top + (corners[i + 1] ?? 0)}`;
      return `${path}Z`;
    })
    .join('');
}

/** The view is of what can be drawn; evaluation reports masks that are invalid. */
function tryRasterize(segmentation: Segmentation, image: ImageSize): Rle | undefined {
  try {
    return rasterize(segmentation, image);
  } catch (error) {
    if (error instanceof DetectionError) return undefined;
    throw error;
  }
}

interface Region {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** The row-major mask of a region that holds all its pixels. */
function cropMask({ height: rows, counts }: Rle, { left, top, width, height }: Region): Uint8Array {
  const mask = new Uint8Array(width * height);
  let start = 0;
  for (const [run, count] of counts.entries()) {
    const end = start + count;
    if (run % 2 === 1) {
      for (let at = start; at < end; at++) {
        const x = Math.floor(at / rows);
        mask[(at - x * rows - top) * width + x - left] = 1;
      }
    }
    start = end;
  }
  return mask;
}
