/** Builds a Darknet-53 as ONNX nodes, and lists its tensors. */
import { add, batchNorm, conv, type Flow, leakyRelu, type ModelBuilder } from './layers.js';
import { BATCH_NORM_EPSILON } from './resnet.js';
import { type ExpectedTensor, norm, type Size, weight } from './state-dict.js';

/** A stride-2 convolution to `channels`, then blocks: 1×1 to `width`, 3×3 back to `channels`, and the sum with the block's input. */
export interface DarknetStage {
  readonly blocks: number;
  readonly width: Size;
  readonly channels: Size;
}

export interface Darknet {
  readonly stem: Size;
  readonly stages: readonly DarknetStage[];
}

export const DARKNET_STEM = '_preconv';
const SLOPE = 0.1;

/**
 * The map after each stage, finest first: strides 2, 4, 8, …. Every convolution is followed by batch norm and leaky ReLU.
 * @see Redmon and Farhadi, YOLOv3, table 1; module names of dbolya/yolact's DarkNetBackbone below `body`.
 */
export function buildDarknet(builder: ModelBuilder, { stages }: Darknet, image: Flow, body: string): Flow[] {
  let x = buildUnit(builder, image, `${body}.${DARKNET_STEM}`, { stride: 1, padding: 1 });
  return stages.map(({ blocks }, stage) => {
    x = buildUnit(builder, x, `${body}.layers.${stage}.0`, { stride: 2, padding: 1 });
    for (let block = 1; block <= blocks; block++) {
      const at = `${body}.layers.${stage}.${block}`;
      const inner = buildUnit(builder, x, `${at}.conv1`, { stride: 1, padding: 0 });
      x = add(builder, buildUnit(builder, inner, `${at}.conv2`, { stride: 1, padding: 1 }), x, { module: `${at}.add` });
    }
    return x;
  });
}

function buildUnit(builder: ModelBuilder, x: Flow, at: string, options: { stride: number; padding: number }): Flow {
  const y = batchNorm(builder, conv(builder, x, { module: `${at}.0` }, options), { module: `${at}.1` }, BATCH_NORM_EPSILON);
  return leakyRelu(builder, y, { module: `${at}.2` }, SLOPE);
}

/** All tensors of the body, in module order. */
export function* darknetTensors({ stem, stages }: Darknet, body: string): Generator<ExpectedTensor> {
  yield* unitTensors(`${body}.${DARKNET_STEM}`, [stem, 3, 3, 3]);
  let before = stem;
  for (const [stage, { blocks, width, channels }] of stages.entries()) {
    yield* unitTensors(`${body}.layers.${stage}.0`, [channels, before, 3, 3]);
    for (let block = 1; block <= blocks; block++) {
      yield* unitTensors(`${body}.layers.${stage}.${block}.conv1`, [width, channels, 1, 1]);
      yield* unitTensors(`${body}.layers.${stage}.${block}.conv2`, [channels, width, 3, 3]);
    }
    before = channels;
  }
}

function* unitTensors(at: string, dims: readonly Size[]): Generator<ExpectedTensor> {
  yield* weight(`${at}.0`, dims);
  yield* norm(`${at}.1`, dims[0], 'parameter');
}
