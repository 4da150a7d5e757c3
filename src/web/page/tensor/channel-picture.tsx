/** One channel as a picture: blue below zero, orange above, as strong as the value is large. */
import { useEffect, useRef } from 'preact/hooks';

interface PictureProps {
  readonly data: Float32Array;
  readonly width: number;
  readonly height: number;
  /** The magnitude with the full color. */
  readonly most: number;
  readonly label: string;
  readonly class?: string;
}

const [BELOW, ABOVE, BROKEN] = [
  [43, 101, 192],
  [201, 94, 10],
  [200, 30, 160],
] as const;

/** A gray that is neither paper nor ink. */
const ZERO = 128;

export function ChannelPicture({ data, width, height, most, label, class: look = 'channel' }: PictureProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (context == null) return;
    const image = context.createImageData(width, height);
    for (let i = 0; i < data.length; i++) paint(image.data, 4 * i, data[i] ?? 0, most);
    context.putImageData(image, 0, 0);
  }, [data, width, height, most]);
  return <canvas ref={canvas} class={look} width={width} height={height} role="img" aria-label={label} />;
}

function paint(pixels: Uint8ClampedArray, at: number, value: number, most: number): void {
  const target = Number.isFinite(value) ? (value < 0 ? BELOW : ABOVE) : BROKEN;
  // The square root shows small values, of which there are most.
  const share = Number.isFinite(value) ? Math.sqrt(Math.min(1, most > 0 ? Math.abs(value) / most : 0)) : 1;
  for (let color = 0; color < 3; color++) pixels[at + color] = ZERO + ((target[color] ?? 0) - ZERO) * share;
  pixels[at + 3] = 255;
}
