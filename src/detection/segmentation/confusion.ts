/** Counts of pixels by labeled and predicted class, and the figures of semantic segmentation that follow. */
import { DetectionError } from '../error/detection-error.js';
import type { IndexImage } from '../image/decode-indices.js';
import { OUTSIDE, type PixelClasses } from './classes-of-pixels.js';

/** What the numbers of a mask mean. */
export interface MaskValues {
  /** The number of class 0; the classes follow it. */
  readonly first: number;
  /** Numbers of pixels that count neither way. Numbers below `first` are ignored too. */
  readonly ignore: readonly number[];
  /** Number → class; numbers that it lacks are ignored. Instead of `first`. */
  readonly values: Readonly<Record<string, number>> | undefined;
}

/** Pixels by labeled and predicted class: [label, prediction, count], in this order. */
export type ConfusionCounts = readonly (readonly [label: number, predicted: number, pixels: number])[];

export interface Confusion {
  readonly counts: ConfusionCounts;
  /** Labeled pixels that the network's input does not show. */
  readonly outside: number;
}

/**
 * Compares a mask with predicted classes of the same size.
 * @param name of the mask in messages.
 * @throws DetectionError `mask-size`; `mask-class` where a number is neither a class nor ignored.
 */
export function countConfusion(mask: IndexImage, predicted: PixelClasses, meaning: MaskValues, name: string): Confusion {
  const { width, height } = predicted;
  if (mask.width !== width || mask.height !== height)
    throw new DetectionError('mask-size', `mask "${name}" has ${mask.width}×${mask.height} pixels, its image ${width}×${height}`, {
      help: 'a mask has the size of its image',
    });
  const classOf = readMeaning(meaning);
  const counts = new Map<number, Map<number, number>>();
  let outside = 0;
  for (const [pixel, value] of mask.data.entries()) {
    const label = classOf(value);
    if (label === undefined) continue;
    if (predicted.of !== undefined && label >= predicted.of)
      throw new DetectionError(
        'mask-class',
        `mask "${name}" has the number ${value} at x ${pixel % width}, y ${Math.floor(pixel / width)}: class ${label}, but the model has ${predicted.of}`,
        {
          help: 'add the number to `ignore`, or say which number is which class with `firstValue` or `values`',
        },
      );
    const own = predicted.classes[pixel] as number;
    if (own === OUTSIDE) outside++;
    else increment(counts, label, own);
  }
  const sorted = [...counts].flatMap(([label, row]) => [...row].map(([own, pixels]) => [label, own, pixels] as const));
  return { counts: sorted.sort((a, b) => a[0] - b[0] || a[1] - b[1]), outside };
}

function increment(counts: Map<number, Map<number, number>>, label: number, predicted: number): void {
  const row = counts.get(label) ?? new Map<number, number>();
  counts.set(label, row);
  row.set(predicted, (row.get(predicted) ?? 0) + 1);
}

function readMeaning({ first, ignore, values }: MaskValues): (value: number) => number | undefined {
  const ignored = new Set(ignore);
  if (values !== undefined) return value => (ignored.has(value) ? undefined : values[String(value)]);
  return value => (ignored.has(value) || value < first ? undefined : value - first);
}

export interface ClassFigures {
  readonly label: number;
  /** Pixels with this label, and predicted ones among all labeled pixels. */
  readonly pixels: number;
  readonly predicted: number;
  /** Intersection over union; undefined if the class is neither labeled nor predicted. */
  readonly iou: number | undefined;
  /** Share of the pixels with this label that are found; undefined without any. */
  readonly accuracy: number | undefined;
}

export interface SegmentationFigures {
  /** Mean IoU over the classes that are labeled or predicted. */
  readonly miou: number;
  /** Share of labeled pixels with the right class. */
  readonly pixelAccuracy: number;
  /** Mean accuracy over the labeled classes. */
  readonly meanAccuracy: number;
  readonly pixels: number;
  readonly perClass: readonly ClassFigures[];
}

/**
 * Figures over all images: counts are added before shares are taken.
 * @param classes at least as many classes as the counts name.
 * @see Long, Shelhamer and Darrell, Fully Convolutional Networks for Semantic Segmentation, 2015, section 5.
 */
export function figuresOf(counts: ConfusionCounts, classes: number): SegmentationFigures {
  const [labeled, predicted, right] = [new Float64Array(classes), new Float64Array(classes), new Float64Array(classes)];
  for (const [label, own, pixels] of counts) {
    labeled[label] = (labeled[label] as number) + pixels;
    predicted[own] = (predicted[own] as number) + pixels;
    if (label === own) right[label] = (right[label] as number) + pixels;
  }
  const perClass = Array.from(labeled, (pixels, label): ClassFigures => {
    const [all, found] = [predicted[label] as number, right[label] as number];
    const union = pixels + all - found;
    return {
      label,
      pixels,
      predicted: all,
      iou: union === 0 ? undefined : found / union,
      accuracy: pixels === 0 ? undefined : found / pixels,
    };
  });
  const pixels = sum(labeled);
  return {
    miou: mean(perClass.flatMap(({ iou }) => iou ?? [])),
    pixelAccuracy: sum(right) / pixels,
    meanAccuracy: mean(perClass.flatMap(({ accuracy }) => accuracy ?? [])),
    pixels,
    perClass,
  };
}

const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;

/** The counts of several images together. */
export function addCounts(all: readonly ConfusionCounts[]): ConfusionCounts {
  const total = new Map<string, [number, number, number]>();
  for (const [label, own, pixels] of all.flat()) {
    const key = `${label} ${own}`;
    const known = total.get(key);
    if (known === undefined) total.set(key, [label, own, pixels]);
    else known[2] += pixels;
  }
  return [...total.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}
