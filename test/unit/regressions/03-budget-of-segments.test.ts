/** Collecting a bounded number of intermediate tensors per run must not change what is collected of them. */

import { ints } from '../../../src/onnx/ir/attribute.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { encodeSampleSketches } from '../../../src/quant/calibration/model-sketches.js';
import { openSketcher } from '../../../src/quant/calibration/sketch-model.js';
import { cutSegments } from '../../../src/runtime/capture/segments.js';
import { randomConstant, randomFloats, smallModel } from '../../support/small-model.js';

/** Branches that join late, so that values live over several segments; every output has 2 × 8 × 8 × 4 = 512 bytes. */
function model(): Model {
  const made = smallModel({
    inputs: { x: ['float32', [1, 2, 8, 8]] },
    constants: { w: randomConstant([2, 2, 3, 3], 3), v: randomConstant([2, 2, 3, 3], 5) },
    nodes: [
      { op: 'Conv', in: ['x', 'w'], out: ['a'], attributes: { pads: ints([1, 1, 1, 1]) } },
      { op: 'Relu', in: ['a'], out: ['b'] },
      { op: 'Conv', in: ['b', 'v'], out: ['c'], attributes: { pads: ints([1, 1, 1, 1]) } },
      { op: 'Sigmoid', in: ['a'], out: ['d'] },
      { op: 'Mul', in: ['c', 'd'], out: ['e'] },
      { op: 'Add', in: ['e', 'x'], out: ['f'] },
      { op: 'Relu', in: ['f'], out: ['y'] },
    ],
    outputs: ['y'],
  });
  for (const value of made.graph.values.values()) value.type ??= { kind: 'tensor', dtype: 'float32', dims: [1, 2, 8, 8] };
  return made;
}

async function sketchesWith(budgetBytes: number): Promise<string> {
  const sketcher = openSketcher(model(), { budgetBytes, freeDim: 1 });
  try {
    return JSON.stringify(encodeSampleSketches(await sketcher.sample({ x: randomFloats([1, 2, 8, 8]) }, 'none')));
  } finally {
    await sketcher.close();
  }
}

describe('the byte budget of segments', () => {
  it.each([
    ['one value', 1, 7],
    ['two values', 1024, 4],
    ['all', Number.POSITIVE_INFINITY, 1],
  ])('%s at a time gives the same sketches', async (_what, budget, segments) => {
    expect(cutSegments(model().graph, { budgetBytes: budget, freeDim: 1 })).toHaveLength(segments);
    expect(await sketchesWith(budget)).toBe(await sketchesWith(700));
  });
});
