/** Builds a ResNet with torchvision's module names below a prefix, and lists its tensors. */
import { add, batchNorm, conv, type Flow, type ModelBuilder, maxPool, relu } from './layers.js';
import { type ExpectedTensor, norm, type Size, weight } from './state-dict.js';

/** Default eps of BatchNorm2d. Frozen norms may use another value. */
export const BATCH_NORM_EPSILON = 1e-5;

/** Bottleneck blocks: 1×1 to `width`, 3×3 (with the stride), 1×1 to `channels`. */
export interface ResNetStage {
  readonly blocks: number;
  readonly width: Size;
  readonly channels: Size;
}

export interface ResNet {
  readonly stem: Size;
  readonly stages: readonly ResNetStage[];
}

/** Module prefixes: `body` for the stem, `stageAt(n)` for stage n, counted from 0. */
export interface ResNetPlaces {
  readonly body: string;
  stageAt(stage: number): string;
}

/**
 * The map after each stage, finest first: strides 4, 8, 16, ….
 * @see torchvision ResNet (v1.5: the 3×3 convolution has the stride).
 */
export function buildResNet(builder: ModelBuilder, { stages }: ResNet, image: Flow, places: ResNetPlaces, epsilon: number): Flow[] {
  const { body } = places;
  let x = conv(builder, image, { module: `${body}.conv1` }, { stride: 2, padding: 3 });
  x = relu(builder, batchNorm(builder, x, { module: `${body}.bn1` }, epsilon), { module: `${body}.relu` });
  x = maxPool(builder, x, { module: `${body}.maxpool` }, { kernel: 3, stride: 2, padding: 1 });
  return stages.map(({ blocks }, stage) => {
    for (let block = 0; block < blocks; block++) {
      const stride = stage > 0 && block === 0 ? 2 : 1;
      x = buildBottleneck(builder, x, `${places.stageAt(stage)}.${block}`, {
        stride,
        epsilon,
        shortcut: block === 0 ? 'conv' : 'identity',
      });
    }
    return x;
  });
}

function buildBottleneck(
  builder: ModelBuilder,
  x: Flow,
  at: string,
  { stride, epsilon, shortcut }: { stride: number; epsilon: number; shortcut: 'conv' | 'identity' },
): Flow {
  const normed = (flow: Flow, module: string): Flow => batchNorm(builder, flow, { module: `${at}.${module}` }, epsilon);
  let y = normed(conv(builder, x, { module: `${at}.conv1` }, { padding: 0 }), 'bn1');
  y = relu(builder, y, { module: `${at}.relu1` });
  y = normed(conv(builder, y, { module: `${at}.conv2` }, { stride, padding: 1 }), 'bn2');
  y = relu(builder, y, { module: `${at}.relu2` });
  y = normed(conv(builder, y, { module: `${at}.conv3` }, { padding: 0 }), 'bn3');
  const kept =
    shortcut === 'identity' ? x : normed(conv(builder, x, { module: `${at}.downsample.0` }, { stride, padding: 0 }), 'downsample.1');
  return relu(builder, add(builder, y, kept, { module: `${at}.add` }), { module: `${at}.relu3` });
}

/** All tensors of the body, in module order. `role` is 'buffer' where the norms are frozen. */
export function* resNetTensors({ stem, stages }: ResNet, places: ResNetPlaces, role: 'parameter' | 'buffer'): Generator<ExpectedTensor> {
  yield* weight(`${places.body}.conv1`, [stem, 3, 7, 7]);
  yield* norm(`${places.body}.bn1`, stem, role);
  let before = stem;
  for (const [index, { blocks, width, channels }] of stages.entries()) {
    for (let block = 0; block < blocks; block++) {
      const at = `${places.stageAt(index)}.${block}`;
      yield* weight(`${at}.conv1`, [width, before, 1, 1]);
      yield* norm(`${at}.bn1`, width, role);
      yield* weight(`${at}.conv2`, [width, width, 3, 3]);
      yield* norm(`${at}.bn2`, width, role);
      yield* weight(`${at}.conv3`, [channels, width, 1, 1]);
      yield* norm(`${at}.bn3`, channels, role);
      if (block === 0) {
        yield* weight(`${at}.downsample.0`, [channels, before, 1, 1]);
        yield* norm(`${at}.downsample.1`, channels, role);
      }
      before = channels;
    }
  }
}
