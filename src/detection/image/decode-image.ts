/** Decodes image files to RGB with sharp. Colors equal those of Pillow's `convert('RGB')`. */
import type { Metadata } from 'sharp';
import { DetectionError } from '../error/detection-error.js';
import { loadSharp } from './load-sharp.js';

/** Row-major pixels of three bytes R G B. */
export interface RgbImage {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

export interface DecodeOptions {
  /** Larger images are rejected before decoding. */
  readonly maxPixels?: number;
  /** 'stored' (the default): pixels as stored in the file, which COCO annotations refer to. 'upright': rotated by the EXIF orientation, as viewers show them. */
  readonly orientation?: 'stored' | 'upright';
}

const MOST_PIXELS = 100_000_000;

/** Supported raster formats. Vector and document formats are rejected, because rendering them can load external resources. */
const FORMATS: readonly string[] = ['jpeg', 'png', 'webp', 'gif', 'tiff'];

/** Color spaces whose bytes are R G B or gray. 16-bit RGB keeps its high byte. */
const SPACES: readonly string[] = ['srgb', 'rgb', 'rgb16', 'b-w'];

/**
 * Decodes an image file: JPEG, PNG, WebP, GIF (first frame) or TIFF (first page).
 *
 * Gray is repeated in the three channels. An alpha channel is dropped without blending. Color profiles are ignored. By default the EXIF orientation is
 * not applied, as in torchvision and Pillow.
 *
 * @param name name of the file in messages.
 * @throws DetectionError `image-decode` where the bytes are not such an image, or are damaged or truncated; `image-too-large` above `maxPixels`;
 *         `image-mode` for color spaces that do not map directly to RGB (CMYK, 16-bit gray, Lab).
 */
export async function decodeImage(bytes: Uint8Array, name: string, options: DecodeOptions = {}): Promise<RgbImage> {
  const metadata = await readMetadata(bytes, name);
  checkMetadata(metadata, name, options.maxPixels ?? MOST_PIXELS);
  const { data, info } = await readPixels(bytes, name, options.orientation === 'upright');
  return { width: info.width, height: info.height, data: toRgb(data, info.width * info.height, info.channels) };
}

async function readMetadata(bytes: Uint8Array, name: string): Promise<Metadata> {
  try {
    return await loadSharp()(bytes, { limitInputPixels: false }).metadata();
  } catch (cause) {
    throw undecodable(name, cause);
  }
}

function checkMetadata(metadata: Metadata, name: string, maxPixels: number): void {
  const { format, space, width, height } = metadata;
  if (!FORMATS.includes(format))
    throw new DetectionError('image-decode', `image "${name}" has the format ${format}; supported are ${FORMATS.join(', ')}`, {
      help: 'convert it to PNG',
    });
  if (width * height > maxPixels)
    throw new DetectionError('image-too-large', `image "${name}" has ${width}×${height} pixels; the limit is ${maxPixels}`, {
      details: { width, height, maxPixels },
    });
  if (!SPACES.includes(space))
    throw new DetectionError('image-mode', `image "${name}" has the color space ${space}, which does not map directly to RGB`, {
      help: 'convert it to 8-bit RGB',
    });
}

async function readPixels(bytes: Uint8Array, name: string, autoOrient: boolean) {
  const sharp = loadSharp();
  try {
    return await sharp(bytes, { limitInputPixels: false, failOn: 'error', ignoreIcc: true, autoOrient }).raw({ depth: 'uchar' }).toBuffer({
      resolveWithObject: true,
    });
  } catch (cause) {
    throw undecodable(name, cause);
  }
}

function undecodable(name: string, cause: unknown): DetectionError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new DetectionError('image-decode', `image "${name}" cannot be decoded: ${reason}`, {
    cause,
    help: 'the file is damaged, truncated or not an image; replace it',
  });
}

/** Converts 1 (gray), 2 (gray, alpha), 3 (RGB) or 4 (RGB, alpha) channels to 3. */
function toRgb(data: Uint8Array, pixels: number, channels: number): Uint8Array {
  if (channels === 3) return data;
  const isGray = channels < 3;
  const rgb = new Uint8Array(pixels * 3);
  for (let from = 0, to = 0; to < rgb.length; from += channels, to += 3) {
    rgb[to] = data[from] as number;
    rgb[to + 1] = data[isGray ? from : from + 1] as number;
    rgb[to + 2] = data[isGray ? from : from + 2] as number;
  }
  return rgb;
}
