/** The small model that tests and docs/cli.md lint: two Conv, a MaxPool 1×1 as in a pyramid, and a ConvTranspose as in a mask head, in XINT8. */
import { ints } from '../../src/onnx/ir/attribute.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { qdqGraph } from './qdq-graph.js';

export function makeNeck(): Model {
  const graph = qdqGraph();
  graph.input('image', [1, 4, 16, 16]);
  for (const [name, kernel] of [
    ['stem', 3],
    ['lateral', 1],
    ['output', 3],
  ] as const) {
    graph.constant(`${name}.weight`, [4, 4, kernel, kernel]);
  }
  const same = { attributes: { pads: ints([1, 1, 1, 1]) }, activation: 'Relu' };
  graph.unit('Conv', ['image', 'stem.weight'], ['stem'], same);
  graph.unit('Conv', ['stem', 'lateral.weight'], ['lateral']);
  graph.unit('MaxPool', ['lateral'], ['coarse'], { attributes: { kernel_shape: ints([1, 1]), strides: ints([2, 2]) } });
  graph.constant('up.weight', [4, 4, 2, 2]);
  graph.unit('ConvTranspose', ['lateral', 'up.weight'], ['up'], { attributes: { strides: ints([2, 2]) } });
  graph.unit('Conv', ['lateral', 'output.weight'], ['fine'], same);
  graph.output('coarse', 'up', 'fine');
  return graph.build();
}
