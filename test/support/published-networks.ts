/** Networks whose latency on an NPU is published, at full width, by descriptions of torchvision's classifiers and of YOLOv8. */
import type { Model } from '../../src/onnx/ir/model.js';
import { type FeatureMap, QdqLayers } from './qdq-layers.js';

/** Names as in the published points. */
export const PUBLISHED_NETWORKS: Readonly<Record<string, () => Model>> = {
  resnet18: () => resNet([2, 2, 2, 2], { form: 'basic', width: 64 }),
  resnet34: () => resNet([3, 4, 6, 3], { form: 'basic', width: 64 }),
  resnet50: () => resNet([3, 4, 6, 3], { form: 'bottleneck', width: 64 }),
  wide_resnet50_2: () => resNet([3, 4, 6, 3], { form: 'bottleneck', width: 128 }),
  wide_resnet101_2: () => resNet([3, 4, 23, 3], { form: 'bottleneck', width: 128 }),
  mobilenet_v2: mobileNetV2,
  mobilenet_v3_small: mobileNetV3Small,
  efficientnet_b0: () => efficientNet(1, 1),
  efficientnet_b1: () => efficientNet(1, 1.1),
  efficientnet_b2: () => efficientNet(1.1, 1.2),
  yolov8n: () => yoloV8(1 / 3, 0.25, 1024),
  yolov8s: () => yoloV8(1 / 3, 0.5, 1024),
  yolov8m: () => yoloV8(2 / 3, 0.75, 768),
  yolov8l: () => yoloV8(1, 1, 512),
  yolov8x: () => yoloV8(1, 1.25, 512),
};

/** He et al. 2015, Zagoruyko and Komodakis 2016. @param width inner channels of the first stage. */
function resNet(blocks: readonly number[], { form, width }: { form: 'basic' | 'bottleneck'; width: number }): Model {
  const net = new QdqLayers();
  let x = net.maxPool(net.conv(net.input(224), 64, { kernel: 7, stride: 2, activation: 'relu' }), 3, 2);
  for (const [stage, count] of blocks.entries()) {
    const inner = width << stage;
    const out = (form === 'basic' ? 64 : 256) << stage;
    for (let block = 0; block < count; block++) {
      const stride = stage > 0 && block === 0 ? 2 : 1;
      const squeezed = form === 'basic' ? x : net.conv(x, inner, { kernel: 1, activation: 'relu' });
      const middle = net.conv(squeezed, inner, { kernel: 3, stride, activation: 'relu' });
      const last = net.conv(middle, out, { kernel: form === 'basic' ? 3 : 1 });
      x = net.add(last, x.channels === out && stride === 1 ? x : net.conv(x, out, { kernel: 1, stride }), 'relu');
    }
  }
  return net.finish(net.linear(net.flatten(net.average(x)), 1000));
}

/** Sandler et al. 2018. Relu stands for Relu6: one node too. */
function mobileNetV2(): Model {
  const net = new QdqLayers();
  let x = net.conv(net.input(224), 32, { kernel: 3, stride: 2, activation: 'relu' });
  for (const [expansion, channels, repeats, first] of [
    [1, 16, 1, 1],
    [6, 24, 2, 2],
    [6, 32, 3, 2],
    [6, 64, 4, 2],
    [6, 96, 3, 1],
    [6, 160, 3, 2],
    [6, 320, 1, 1],
  ] as const) {
    for (let block = 0; block < repeats; block++) {
      const wide = expansion === 1 ? x : net.conv(x, x.channels * expansion, { kernel: 1, activation: 'relu' });
      const stride = block === 0 ? first : 1;
      const deep = net.conv(wide, wide.channels, { kernel: 3, stride, depthwise: true, activation: 'relu' });
      const out = net.conv(deep, channels, { kernel: 1 });
      x = block > 0 ? net.add(x, out) : out;
    }
  }
  x = net.conv(x, 1280, { kernel: 1, activation: 'relu' });
  return net.finish(net.linear(net.flatten(net.average(x)), 1000));
}

/** Howard et al. 2019. */
function mobileNetV3Small(): Model {
  const net = new QdqLayers();
  let x = net.conv(net.input(224), 16, { kernel: 3, stride: 2, activation: 'swish' });
  for (const [kernel, wide, channels, squeezed, activation, stride] of [
    [3, 16, 16, 8, 'relu', 2],
    [3, 72, 24, 0, 'relu', 2],
    [3, 88, 24, 0, 'relu', 1],
    [5, 96, 40, 24, 'swish', 2],
    [5, 240, 40, 64, 'swish', 1],
    [5, 240, 40, 64, 'swish', 1],
    [5, 120, 48, 32, 'swish', 1],
    [5, 144, 48, 40, 'swish', 1],
    [5, 288, 96, 72, 'swish', 2],
    [5, 576, 96, 144, 'swish', 1],
    [5, 576, 96, 144, 'swish', 1],
  ] as const) {
    const given = x;
    const expanded = wide === x.channels ? x : net.conv(x, wide, { kernel: 1, activation });
    const deep = net.conv(expanded, wide, { kernel, stride, depthwise: true, activation });
    const out = net.conv(squeezed === 0 ? deep : squeeze(net, deep, squeezed, 'relu'), channels, { kernel: 1 });
    x = stride === 1 && given.channels === channels ? net.add(out, given) : out;
  }
  x = net.flatten(net.average(net.conv(x, 576, { kernel: 1, activation: 'swish' })));
  return net.finish(net.linear(net.linear(x, 1024, 'swish'), 1000));
}

function squeeze(net: QdqLayers, x: FeatureMap, channels: number, activation: 'relu' | 'swish'): FeatureMap {
  const inner = net.conv(net.average(x), channels, { kernel: 1, activation });
  return net.multiply(x, net.conv(inner, x.channels, { kernel: 1, activation: 'sigmoid' }));
}

/** Tan and Le 2019, at 224×224. */
function efficientNet(width: number, depth: number): Model {
  const net = new QdqLayers();
  const channelsOf = (base: number): number => roundTo8(base * width);
  let x = net.conv(net.input(224), channelsOf(32), { kernel: 3, stride: 2, activation: 'swish' });
  for (const [expansion, kernel, first, base, repeats] of [
    [1, 3, 1, 16, 1],
    [6, 3, 2, 24, 2],
    [6, 5, 2, 40, 2],
    [6, 3, 2, 80, 3],
    [6, 5, 1, 112, 3],
    [6, 5, 2, 192, 4],
    [6, 3, 1, 320, 1],
  ] as const) {
    for (let block = 0; block < Math.ceil(repeats * depth); block++) {
      const given = x;
      const stride = block === 0 ? first : 1;
      const wide = expansion === 1 ? x : net.conv(x, roundTo8(x.channels * expansion), { kernel: 1, activation: 'swish' });
      const deep = net.conv(wide, wide.channels, { kernel, stride, depthwise: true, activation: 'swish' });
      const out = net.conv(squeeze(net, deep, Math.max(1, given.channels >> 2), 'swish'), channelsOf(base), { kernel: 1 });
      x = stride === 1 && given.channels === out.channels ? net.add(out, given) : out;
    }
  }
  x = net.conv(x, 4 * x.channels, { kernel: 1, activation: 'swish' });
  return net.finish(net.linear(net.flatten(net.average(x)), 1000));
}

/** The multiple of 8 that is next, and not below nine tenths. */
function roundTo8(channels: number): number {
  const rounded = Math.max(8, Math.floor((channels + 4) / 8) * 8);
  return rounded < 0.9 * channels ? rounded + 8 : rounded;
}

/** Jocher et al. 2023, at 640×640, with the six tensors before boxes and scores are decoded as outputs. */
function yoloV8(depth: number, width: number, widest: number): Model {
  const net = new QdqLayers();
  const channelsOf = (base: number): number => Math.ceil((Math.min(base, widest) * width) / 8) * 8;
  const repeats = (base: number): number => Math.max(1, Math.round(base * depth));
  const conv = (x: FeatureMap, channels: number, kernel = 3, stride = 1): FeatureMap =>
    net.conv(x, channels, { kernel, stride, activation: 'swish' });
  const c2f = (x: FeatureMap, base: number, count: number, shortcut: 'shortcut' | 'plain'): FeatureMap => {
    const channels = channelsOf(base);
    const [first, second] = net.halves(conv(x, channels, 1));
    const maps = [first, second];
    let last = second;
    for (let index = 0; index < repeats(count); index++) {
      const out = conv(conv(last, channels / 2), channels / 2);
      last = shortcut === 'shortcut' ? net.add(last, out) : out;
      maps.push(last);
    }
    return conv(net.concat(maps), channels, 1);
  };
  const down = (x: FeatureMap, base: number): FeatureMap => conv(x, channelsOf(base), 3, 2);
  const level2 = c2f(down(down(net.input(640), 64), 128), 128, 3, 'shortcut');
  const level3 = c2f(down(level2, 256), 256, 6, 'shortcut');
  const level4 = c2f(down(level3, 512), 512, 6, 'shortcut');
  const deepest = pyramidPool(net, conv, c2f(down(level4, 1024), 1024, 3, 'shortcut'), channelsOf(1024));
  const up4 = c2f(net.concat([net.double(deepest), level4]), 512, 3, 'plain');
  const out3 = c2f(net.concat([net.double(up4), level3]), 256, 3, 'plain');
  const out4 = c2f(net.concat([down(out3, 256), up4]), 512, 3, 'plain');
  const out5 = c2f(net.concat([down(out4, 512), deepest]), 1024, 3, 'plain');
  const boxes = Math.max(16, out3.channels >> 2, 64);
  const scores = Math.max(out3.channels, 80);
  const heads = [out3, out4, out5].flatMap(x => [
    net.conv(conv(conv(x, boxes), boxes), 64, { kernel: 1 }),
    net.conv(conv(conv(x, scores), scores), 80, { kernel: 1 }),
  ]);
  return net.finish(...heads);
}

/** SPPF: a map and three pools of it, each of the one before. */
function pyramidPool(
  net: QdqLayers,
  conv: (x: FeatureMap, channels: number, kernel: number) => FeatureMap,
  x: FeatureMap,
  channels: number,
): FeatureMap {
  const first = conv(x, x.channels / 2, 1);
  const second = net.maxPool(first, 5, 1);
  const third = net.maxPool(second, 5, 1);
  return conv(net.concat([first, second, third, net.maxPool(third, 5, 1)]), channels, 1);
}
