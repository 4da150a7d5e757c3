/** How do the bytes of an image file become RGB pixels? By sharp's decoders, with the colours that Pillow's `convert('RGB')` gives. */
import type { Metadata } from 'sharp';
import { DetectionError } from '../error/detection-error.js';
import { loadSharp } from './load-sharp.js';

/** Rows from the top, pixels from the left, three bytes R G B each. */
export interface RgbImage {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

export interface DecodeOptions {
  /** Images of more pixels are refused before anything is decoded. */
  readonly maxPixels?: number;
  /** 'stored' (where absent): pixels as they are in the file, as COCO annotations count them. 'upright': turned as EXIF says, as viewers show them. */
  readonly orientation?: 'stored' | 'upright';
}

const MOST_PIXELS = 100_000_000;

/** Raster formats that carry plain pixels. Vector and document formats are refused: rendering them would load what they refer to. */
const FORMATS: readonly string[] = ['jpeg', 'png', 'webp', 'gif', 'tiff'];

/** Colour spaces whose bytes are R G B or grey. 16-bit RGB keeps its high byte. */
const SPACES: readonly string[] = ['srgb', 'rgb', 'rgb16', 'b-w'];

/**
 * Decodes an image file: JPEG, PNG, WebP, GIF (first frame) or TIFF (first page).
 *
 * Grey repeats three times; an alpha channel is dropped and the colours under it kept, without blending. A colour profile is ignored. The EXIF
 * orientation is not applied unless asked for: torchvision's and Pillow's readers do not either.
 *
 * @param name what messages call the file.
 * @throws DetectionError `image-decode` where the bytes are no such image or are damaged or cut off, `image-too-large` above `maxPixels`,
 *         `image-mode` for colours that have no plain RGB reading (CMYK, 16-bit grey, Lab).
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
    throw new DetectionError('image-decode', `image "${name}" is ${format}, not one of ${FORMATS.join(', ')}`, {
      help: 'convert it to PNG',
    });
  if (width * height > maxPixels)
    throw new DetectionError('image-too-large', `image "${name}" has ${width}×${height} pixels, at most ${maxPixels} are read`, {
      details: { width, height, maxPixels },
    });
  if (!SPACES.includes(space))
    throw new DetectionError('image-mode', `image "${name}" has the colour space ${space}, which has no plain RGB reading`, {
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
    help: 'the file is damaged, cut off, or no image; replace it',
  });
}

/** Channels 1 (grey), 2 (grey, alpha), 3 (RGB) or 4 (RGB, alpha) to 3. */
function toRgb(data: Uint8Array, pixels: number, channels: number): Uint8Array {
  if (channels === 3) return data;
  const grey = channels < 3;
  const rgb = new Uint8Array(pixels * 3);
  for (let from = 0, to = 0; to < rgb.length; from += channels, to += 3) {
    rgb[to] = data[from] as number;
    rgb[to + 1] = data[grey ? from : from + 1] as number;
    rgb[to + 2] = data[grey ? from : from + 2] as number;
  }
  return rgb;
}
