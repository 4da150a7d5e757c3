/**
 * Compares three RoIAlign implementations: the plain code that defines it, the WebAssembly kernel, and ONNX Runtime's operator.
 * They run interleaved on the same RoIs, and give equal bits on x86-64.
 */
import { roiAlignInto } from '../src/detection/geometry/roi-align.js';
import { roiAlignByKernel } from '../src/detection/geometry/roi-align-kernel.js';
import { openRoiAlign } from '../test/support/roi-align-operator.js';
import { formatRatio, formatSamples, printTable } from './table.js';
import { interleave, type Samples } from './timing.js';

interface Case {
  readonly name: string;
  readonly channels: number;
  readonly height: number;
  readonly width: number;
  readonly rois: number;
  readonly size: number;
}

const ROUNDS = 7;
const SCALE = 1 / 4;

const CASES: readonly Case[] = [
  { name: 'example, box head', channels: 32, height: 48, width: 64, rois: 200, size: 7 },
  { name: 'example, mask head', channels: 32, height: 48, width: 64, rois: 20, size: 14 },
  { name: 'full size, box head', channels: 256, height: 136, width: 240, rois: 1000, size: 7 },
  { name: 'full size, mask head', channels: 256, height: 136, width: 240, rois: 100, size: 14 },
];

/** Deterministic values from 0 to 1. */
function makeRandom(): () => number {
  let state = 1;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}

export async function measureRoiAlign(): Promise<void> {
  const rows: string[][] = [];
  for (const one of CASES) {
    const { plain, kernel, onnxRuntime } = await measure(one);
    rows.push([
      one.name,
      formatSamples(plain),
      formatSamples(kernel),
      formatSamples(onnxRuntime),
      formatRatio(onnxRuntime.median, kernel.median),
    ]);
  }
  printTable(`RoIAlign, ms, median (quartiles) of ${ROUNDS}, interleaved`, [
    ['', 'plain', 'kernel', 'ONNX Runtime', 'to the kernel'],
    ...rows,
  ]);
}

async function measure({
  channels,
  height,
  width,
  rois,
  size,
}: Case): Promise<Readonly<Record<'plain' | 'kernel' | 'onnxRuntime', Samples>>> {
  const random = makeRandom();
  const map = { data: Float32Array.from({ length: channels * height * width }, random), channels, height, width, scale: SCALE };
  const boxes = makeBoxes(rois, { height, width }, random);
  const indices = Array.from({ length: rois }, (_, index) => index);
  const target = new Float32Array(rois * channels * size * size);
  const session = await openRoiAlign({ size, samplingRatio: 2 }, { optimization: 'all' });
  const times = await interleave(
    {
      plain: () => roiAlignInto(target, map, boxes, indices, { size, samplingRatio: 2 }),
      kernel: () => roiAlignByKernel(target, map, boxes, indices, { size, samplingRatio: 2 }),
      onnxRuntime: () => session.pool(map, boxes),
    },
    ROUNDS,
  );
  await session.close();
  return times;
}

/** Boxes from 10 pixels to the size of the image, anywhere in it. */
function makeBoxes(count: number, { height, width }: { height: number; width: number }, random: () => number): Float32Array {
  const boxes: number[] = [];
  for (let i = 0; i < count; i++) {
    const [x, y] = [(random() * width) / SCALE, (random() * height) / SCALE];
    boxes.push(x, y, x + 10 + random() * width, y + 10 + random() * height);
  }
  return Float32Array.from(boxes);
}
