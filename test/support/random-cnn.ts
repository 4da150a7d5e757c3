/** Random small CNNs for property tests: graphs of convolutions, pools, sums and activation functions on tensors of one shape. */
import * as fc from 'fast-check';
import { int, ints } from '../../src/onnx/ir/attribute.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { randomConstant, type SmallNode, smallModel } from './small-model.js';

export const CNN_DIMS = [1, 4, 6, 6] as const;

const KINDS = ['conv', 'conv-relu', 'depthwise', 'max-pool', 'average-pool', 'add', 'mul', 'concat', 'sigmoid', 'relu', 'split'] as const;

interface Layer {
  readonly kind: (typeof KINDS)[number];
  /** Which of the tensors so far it reads, counted from the last. */
  readonly first: number;
  readonly second: number;
}

const layer: fc.Arbitrary<Layer> = fc.record({ kind: fc.constantFrom(...KINDS), first: fc.nat(4), second: fc.nat(8) });

/** Input "x" goes into a Conv; every tensor that nothing reads is an output. */
export const randomCnn: fc.Arbitrary<Model> = fc
  .array(layer, { minLength: 1, maxLength: 14 })
  .map(layers => buildCnn([{ kind: 'conv', first: 0, second: 0 }, ...layers]));

function buildCnn(layers: readonly Layer[]): Model {
  const nodes: SmallNode[] = [];
  const constants: Record<string, ReturnType<typeof randomConstant>> = {};
  const tensors = ['x'];
  const read = new Set<string>();
  const take = (back: number): string => {
    const name = tensors[Math.max(0, tensors.length - 1 - back)] ?? 'x';
    read.add(name);
    return name;
  };
  const weight = (name: string, dims: readonly number[], seed: number): string => {
    constants[name] = randomConstant(dims, seed);
    return name;
  };
  for (const [index, { kind, first, second }] of layers.entries()) {
    const out = `t${index}`;
    const x = take(first);
    switch (kind) {
      case 'conv':
      case 'conv-relu': {
        const inputs = [x, weight(`w${index}`, [4, 4, 3, 3], index + 1), weight(`b${index}`, [4], index + 50)];
        const pads = { pads: ints([1, 1, 1, 1]) };
        if (kind === 'conv') nodes.push({ op: 'Conv', in: inputs, out: [out], attributes: pads });
        else nodes.push({ op: 'Conv', in: inputs, out: [`${out}_c`], attributes: pads }, { op: 'Relu', in: [`${out}_c`], out: [out] });
        break;
      }
      case 'depthwise':
        nodes.push({
          op: 'Conv',
          in: [x, weight(`w${index}`, [4, 1, 3, 3], index + 1)],
          out: [out],
          attributes: { pads: ints([1, 1, 1, 1]), group: int(4) },
        });
        break;
      case 'max-pool':
      case 'average-pool': {
        const attributes = { kernel_shape: ints([3, 3]), pads: ints([1, 1, 1, 1]), strides: ints([1, 1]) };
        nodes.push({ op: kind === 'max-pool' ? 'MaxPool' : 'AveragePool', in: [x], out: [out], attributes });
        break;
      }
      case 'add':
      case 'mul':
        nodes.push({ op: kind === 'add' ? 'Add' : 'Mul', in: [x, take(second)], out: [out] });
        break;
      case 'concat':
        nodes.push(
          { op: 'Concat', in: [x, take(second)], out: [`${out}_c`], attributes: { axis: int(1) } },
          { op: 'Conv', in: [`${out}_c`, weight(`w${index}`, [4, 8, 1, 1], index + 1)], out: [out] },
        );
        break;
      case 'split':
        nodes.push(
          { op: 'Split', in: [x], out: [`${out}_a`, `${out}_b`], attributes: { axis: int(1) } },
          { op: 'Concat', in: [`${out}_b`, `${out}_a`], out: [out], attributes: { axis: int(1) } },
        );
        break;
      case 'sigmoid':
      case 'relu':
        nodes.push({ op: kind === 'sigmoid' ? 'Sigmoid' : 'Relu', in: [x], out: [out] });
        break;
    }
    tensors.push(out);
  }
  const outputs = tensors.filter(name => name !== 'x' && !read.has(name));
  return smallModel({ opset: 13, inputs: { x: ['float32', [...CNN_DIMS]] }, constants, nodes, outputs });
}
