/** Torchvision's classifiers node for node, narrow since placement does not look at widths: ResNet, SqueezeNet, MobileNetV2. */
import { int, ints } from '../../src/onnx/ir/attribute.js';
import type { Constant, Model } from '../../src/onnx/ir/model.js';
import { randomConstant, type SmallNode, smallModel } from './small-model.js';

const SIZE = 64;

interface Builder {
  /** Names of tensors in and out. */
  conv(
    x: string,
    channels: readonly [number, number],
    kernel: number,
    options?: { stride?: number; depthwise?: boolean; pad?: number },
  ): string;
  op(op: string, inputs: readonly string[], attributes?: SmallNode['attributes']): string;
  linear(x: string, inputs: number, outputs: number): string;
  finish(output: string): Model;
}

function startNet(): Builder {
  const nodes: SmallNode[] = [];
  const constants: Record<string, Constant> = {};
  const constant = (dims: readonly number[]): string => {
    const name = `c${Object.keys(constants).length}`;
    constants[name] = randomConstant(dims, Object.keys(constants).length + 1);
    return name;
  };
  const op: Builder['op'] = (opType, inputs, attributes = {}) => {
    const out = `t${nodes.length}`;
    nodes.push({ op: opType, in: inputs, out: [out], attributes });
    return out;
  };
  return {
    op,
    conv(x, [from, to], kernel, { stride = 1, depthwise = false, pad = (kernel - 1) >> 1 } = {}) {
      const inputs = [x, constant([to, depthwise ? 1 : from, kernel, kernel]), constant([to])];
      return op('Conv', inputs, { strides: ints([stride, stride]), pads: ints([pad, pad, pad, pad]), group: int(depthwise ? from : 1) });
    },
    linear: (x, inputs, outputs) => op('Gemm', [x, constant([outputs, inputs]), constant([outputs])], { transB: int(1) }),
    finish: output => smallModel({ opset: 17, inputs: { x: ['float32', [1, 3, SIZE, SIZE]] }, constants, nodes, outputs: [output] }),
  };
}

export const NET_DIMS = [1, 3, SIZE, SIZE] as const;

const pool = (kernel: number, pad: number, ceil = 0) => ({
  kernel_shape: ints([kernel, kernel]),
  strides: ints([2, 2]),
  pads: ints([pad, pad, pad, pad]),
  ceil_mode: int(ceil),
});

export function makeResNet(blocks: readonly number[], form: 'basic' | 'bottleneck'): Model {
  const net = startNet();
  const relu = (x: string): string => net.op('Relu', [x]);
  let x = relu(net.conv('x', [3, 4], 7, { stride: 2 }));
  x = net.op('MaxPool', [x], pool(3, 1));
  let channels = 4;
  const expansion = form === 'bottleneck' ? 2 : 1;
  for (const [stage, count] of blocks.entries()) {
    const width = 4;
    for (let block = 0; block < count; block++) {
      const stride = stage > 0 && block === 0 ? 2 : 1;
      const out = width * expansion * (stage + 1);
      const inner = form === 'bottleneck' ? relu(net.conv(x, [channels, width], 1)) : x;
      const first =
        form === 'bottleneck' ? relu(net.conv(inner, [width, width], 3, { stride })) : relu(net.conv(x, [channels, out], 3, { stride }));
      const last = form === 'bottleneck' ? net.conv(first, [width, out], 1) : net.conv(first, [out, out], 3);
      const shortcut = block === 0 && (stage > 0 || form === 'bottleneck') ? net.conv(x, [channels, out], 1, { stride }) : x;
      x = relu(net.op('Add', [last, shortcut]));
      channels = out;
    }
  }
  const flat = net.op('Flatten', [net.op('GlobalAveragePool', [x])]);
  return net.finish(net.linear(flat, channels, 10));
}

/** torchvision's squeezenet1_0. */
export function makeSqueezeNet(): Model {
  const net = startNet();
  const conv = (x: string, channels: readonly [number, number], kernel: number, stride = 1): string =>
    net.op('Relu', [net.conv(x, channels, kernel, { stride })]);
  let x = net.op('MaxPool', [conv('x', [3, 4], 7, 2)], pool(3, 0, 1));
  for (let fire = 2; fire <= 9; fire++) {
    const squeezed = conv(x, [fire === 2 ? 4 : 8, 4], 1);
    x = net.op('Concat', [conv(squeezed, [4, 4], 1), conv(squeezed, [4, 4], 3)], { axis: int(1) });
    if (fire === 4 || fire === 8) x = net.op('MaxPool', [x], pool(3, 0, 1));
  }
  return net.finish(net.op('Flatten', [net.op('GlobalAveragePool', [conv(x, [8, 10], 1)])]));
}

/** torchvision's mobilenet_v2; Relu stands for Relu6, which is one node too. */
export function makeMobileNetV2(): Model {
  const net = startNet();
  const relu = (x: string): string => net.op('Relu', [x]);
  let x = relu(net.conv('x', [3, 4], 3, { stride: 2 }));
  for (const [expand, repeats, stride, width] of [
    [1, 1, 1, 2],
    [6, 2, 2, 3],
    [6, 3, 2, 4],
    [6, 4, 2, 5],
    [6, 3, 1, 6],
    [6, 3, 2, 7],
    [6, 1, 1, 8],
  ] as const) {
    for (let block = 0; block < repeats; block++) {
      const from = block === 0 ? (width === 2 ? 4 : width - 1) : width;
      const inner = from * expand;
      const wide = expand === 1 ? x : relu(net.conv(x, [from, inner], 1));
      const deep = relu(net.conv(wide, [inner, inner], 3, { stride: block === 0 ? stride : 1, depthwise: true }));
      const out = net.conv(deep, [inner, width], 1);
      x = block > 0 ? net.op('Add', [x, out]) : out;
    }
  }
  const flat = net.op('Flatten', [net.op('GlobalAveragePool', [relu(net.conv(x, [8, 16], 1))])]);
  return net.finish(net.linear(flat, 16, 10));
}
