/**
 * The generated data set for COCO evaluation, of the size of val2017.
 * It has 5,000 images, 36,000 objects of 80 categories, and 97,000 detections with masks.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rasterizePolygon } from '../src/detection/masks/polygon.js';
import { encodeRleText } from '../src/detection/masks/rle-text.js';

const IMAGES = 5000;
const DETECTIONS = 97_000;
const [WIDTH, HEIGHT] = [640, 480];
const CATEGORIES = Array.from({ length: 90 }, (_, i) => i + 1).filter(id => id % 9 !== 3);

export interface CocoSetFiles {
  readonly truth: string;
  readonly detections: string;
}

/** Writes the data set into `folder`, with the same bytes at every call. */
export function writeCocoSet(folder: string): CocoSetFiles {
  const random = makeRandom();
  const truth = join(folder, 'instances.json');
  const detections = join(folder, 'detections.json');
  const images: object[] = [];
  const annotations: object[] = [];
  const found: string[] = [];
  for (let imageId = 1; imageId <= IMAGES; imageId++) {
    images.push({ id: imageId, width: WIDTH, height: HEIGHT, file_name: `${imageId}.jpg` });
    const objects = Array.from({ length: Math.floor(random() * 15.6) }, () => drawObject(random));
    for (const object of objects) {
      const crowd = random() < 0.01;
      const { counts, area } = encode(object.polygon);
      annotations.push({
        id: annotations.length + 1,
        image_id: imageId,
        category_id: object.category,
        iscrowd: crowd ? 1 : 0,
        area,
        bbox: boxOf(object.polygon),
        segmentation: crowd ? { size: [HEIGHT, WIDTH], counts } : [object.polygon],
      });
    }
    const wanted = Math.round((imageId * DETECTIONS) / IMAGES) - found.length;
    for (let i = 0; i < wanted; i++) {
      const near = objects.length > 0 && random() < 0.6 ? objects[Math.floor(random() * objects.length)] : undefined;
      const { polygon, category } = near === undefined ? drawObject(random) : { ...near, polygon: shake(near.polygon, random) };
      const label = random() < 0.1 ? pick(CATEGORIES, random) : category;
      found.push(
        JSON.stringify({
          image_id: imageId,
          category_id: label,
          bbox: boxOf(polygon),
          score: Math.round((near === undefined ? 0.6 : 1) * random() * 1e4) / 1e4,
          segmentation: { size: [HEIGHT, WIDTH], counts: encode(polygon).counts },
        }),
      );
    }
  }
  const categories = CATEGORIES.map(id => ({ id, name: `category ${id}` }));
  writeFileSync(truth, JSON.stringify({ images, annotations, categories }));
  writeFileSync(detections, `[${found.join(',')}]`);
  return { truth, detections };
}

interface Drawn {
  readonly category: number;
  readonly polygon: readonly number[];
}

/** A star-shaped outline with 24 corners. As in COCO, about four in ten objects are small and a quarter are large. */
function drawObject(random: () => number): Drawn {
  const share = random();
  const size = share < 0.41 ? 8 + 22 * random() : share < 0.76 ? 32 + 60 * random() : 100 + 220 * random();
  const [x, y] = [random() * WIDTH, random() * HEIGHT];
  const [wide, tall] = [0.6 + 0.6 * random(), 0.6 + 0.6 * random()];
  const polygon = Array.from({ length: 24 }, (_, i) => {
    const angle = (2 * Math.PI * i) / 24;
    const radius = (size / 2) * (0.75 + 0.25 * random());
    return [clip(x + wide * radius * Math.cos(angle), WIDTH), clip(y + tall * radius * Math.sin(angle), HEIGHT)];
  }).flat();
  return { category: pick(CATEGORIES, random), polygon };
}

function shake(polygon: readonly number[], random: () => number): readonly number[] {
  const [, , width, height] = boxOf(polygon);
  const [dx, dy] = [(random() - 0.5) * 0.3 * width, (random() - 0.5) * 0.3 * height];
  return polygon.map((value, i) => clip(value + (i % 2 === 0 ? dx : dy) + random() - 0.5, i % 2 === 0 ? WIDTH : HEIGHT));
}

function clip(value: number, most: number): number {
  return Math.round(Math.min(Math.max(value, 0), most) * 100) / 100;
}

function boxOf(polygon: readonly number[]): readonly [number, number, number, number] {
  const [xs, ys] = [polygon.filter((_, i) => i % 2 === 0), polygon.filter((_, i) => i % 2 === 1)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  return [left, top, Math.round((Math.max(...xs) - left) * 100) / 100, Math.round((Math.max(...ys) - top) * 100) / 100];
}

function encode(polygon: readonly number[]): { readonly counts: string; readonly area: number } {
  const rle = rasterizePolygon(polygon, HEIGHT, WIDTH);
  return { counts: encodeRleText(rle), area: rle.counts.reduce((sum, count, run) => sum + (run % 2 === 1 ? count : 0), 0) };
}

function pick<T>(list: readonly T[], random: () => number): T {
  return list[Math.floor(random() * list.length)] as T;
}

/** Deterministic values from 0 to 1, excluding 1. */
function makeRandom(): () => number {
  let state = 7;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483648;
  };
}
