/** Draws boxes and masks of objects on an image, as SVG. */
import { type Color, variable } from './colors.js';
import { type Html, html } from './html.js';

export interface Picture {
  /** Id of the embedded image, see `drawPictureImage`. */
  readonly image: string;
  readonly width: number;
  readonly height: number;
  /** Text alternative. */
  readonly description: string;
  readonly objects: readonly PictureObject[];
}

export interface PictureObject {
  /** Short text beside the box; may be empty. */
  readonly tag: string;
  readonly color: Color;
  /** x, y, width, height in pixels. */
  readonly box: readonly number[] | undefined;
  /** Closed loops of alternating x and y. */
  readonly outlines: readonly (readonly number[])[];
  /** 'lone': an unmatched object, drawn dashed. */
  readonly kind: 'paired' | 'lone';
}

/** Embeds an image once, so that several pictures can use it. */
export function drawPictureImage(id: string, source: string, { width, height }: Pick<Picture, 'width' | 'height'>): Html {
  return html`<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs><image id="${id}" href="${source}" width="${width}" height="${height}"/></defs></svg>
`;
}

export function drawPicture({ image, width, height, description, objects }: Picture): Html {
  const unit = Math.max(width, height) / 256;
  return html`<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${description}"><use href="#${image}"/>${objects.map(object => drawMask(object, unit))}${objects.map(object => drawBox(object, unit, width))}</svg>`;
}

function drawMask({ color, outlines, kind }: PictureObject, unit: number): Html {
  if (outlines.length === 0) return html``;
  const path = outlines.map(drawLoop).join('');
  return html`<path class="${kind === 'lone' ? 'mask lone' : 'mask'}" fill-rule="evenodd" fill="${variable(color)}" stroke="${variable(color)}" stroke-width="${round(unit)}" d="${path}"/>`;
}

/** Uses short commands for steps along the axes, of which pixel outlines consist. */
function drawLoop(points: readonly number[]): string {
  let path = `M${round(points[0] ?? 0)} ${round(points[1] ?? 0)}`;
  for (let i = 2; i < points.length; i += 2) {
    const [x = 0, y = 0] = [points[i], points[i + 1]];
    if (y === points[i - 1]) path += `H${round(x)}`;
    else if (x === points[i - 2]) path += `V${round(y)}`;
    else path += `L${round(x)} ${round(y)}`;
  }
  return `${path}Z`;
}

function drawBox({ box, tag, color, kind }: PictureObject, unit: number, imageWidth: number): Html {
  if (box === undefined) return html``;
  const [x = 0, y = 0, width = 0, height = 0] = box;
  const frame = html`<rect class="${kind}" x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" fill="none" stroke="${variable(color)}" stroke-width="${round(1.5 * unit)}"/>`;
  if (tag === '') return frame;
  const size = 9 * unit;
  const tagWidth = (tag.length * 0.62 + 0.5) * size;
  const left = Math.min(Math.max(0, x), Math.max(0, imageWidth - tagWidth));
  const top = y >= size * 1.15 ? y - size * 1.15 : Math.max(0, y);
  return html`${frame}<rect x="${round(left)}" y="${round(top)}" width="${round(tagWidth)}" height="${round(size * 1.15)}" fill="${variable(color)}"/><text x="${round(left + 0.25 * size)}" y="${round(top + 0.92 * size)}" font-size="${round(size)}" font-weight="600" fill="${variable('panel')}">${tag}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
