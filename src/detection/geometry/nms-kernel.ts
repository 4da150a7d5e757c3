/** WebAssembly kernel of box suppression, four boxes at a time. Results equal those of `coverPlainly` bit for bit. */
import { getDefined } from '../../base/invariant.js';
import { openWasm } from '../../base/wasm-instance.js';
import type { Coverage } from './box-coverage.js';
import type { Boxes } from './boxes.js';
import { nmsWasm } from './generated/nms.js';

/** Capacity of the kernel's memory, in boxes. */
export const MOST_COVERED = 16384;
const LANE_BYTES = 4 * MOST_COVERED;
/** Byte offsets of six arrays, each with one number per box. */
const [X1, Y1, X2, Y2, AREA, GONE] = [0, 1, 2, 3, 4, 5].map(list => list * LANE_BYTES) as [number, number, number, number, number, number];

interface Kernel {
  readonly cover: (box: number, from: number, end: number, threshold: number) => void;
  readonly floats: Float32Array;
  readonly words: Int32Array;
}

let opened: Kernel | undefined;

function openKernel(): Kernel {
  if (opened !== undefined) return opened;
  const { functions, memory } = openWasm(nmsWasm);
  opened = { cover: getDefined(functions.cover, 'cover'), floats: new Float32Array(memory), words: new Int32Array(memory) };
  return opened;
}

/** For at most `MOST_COVERED` boxes. All results share one memory: a new call invalidates the previous result. */
export function openCoverage(boxes: Boxes, areas: Float32Array, threshold: number): Coverage {
  const { cover, floats, words } = openKernel();
  const count = areas.length;
  for (let i = 0; i < count; i++) {
    floats[X1 / 4 + i] = boxes[4 * i] as number;
    floats[Y1 / 4 + i] = boxes[4 * i + 1] as number;
    floats[X2 / 4 + i] = boxes[4 * i + 2] as number;
    floats[Y2 / 4 + i] = boxes[4 * i + 3] as number;
  }
  floats.set(areas, AREA / 4);
  words.fill(0, GONE / 4, GONE / 4 + count + 4);
  const below = roundDown(threshold);
  return {
    isCovered: box => words[GONE / 4 + box] !== 0,
    // Starts at the group of four that contains the next box: the boxes before it in the group were already visited.
    coverBy: box => {
      if (box + 1 < count) cover(4 * box, 4 * (box + 1 - ((box + 1) % 4)), 4 * count, below);
    },
  };
}

/** The largest float32 that is not above `value`. A float32 is above it exactly where it is above `value`. */
function roundDown(value: number): number {
  const near = Math.fround(value);
  if (near <= value) return near;
  const float = new Float32Array([near]);
  const bits = new Int32Array(float.buffer);
  bits[0] = (bits[0] as number) - 1;
  return float[0] as number;
}
