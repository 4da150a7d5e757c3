/** How is the first part built? ResNet body, feature pyramid with its pooled extra level, and the RPN head shared over the levels. */
import { getDefined } from '../../base/invariant.js';
import { add, batchNorm, conv, type Flow, input, type ModelBuilder, markOutput, maxPool, relu, resizeNearestLike } from './layers.js';
import { type BuiltLevel, levelNames } from './make-recipe.js';
import { type BlockNorm, type MaskRcnnStructure, PYRAMID_LEVELS } from './structure.js';

/** BatchNorm2d's eps, which torchvision leaves at its default everywhere but in a frozen body. */
export const BATCH_NORM_EPSILON = 1e-5;

/**
 * Adds the part to `builder`: input `image` [1, 3, height, width]; outputs `feature_0` … `feature_3`, `objectness_0` …, `rpn_deltas_0` ….
 * The pooled level's map is the inner value `feature_pool`.
 * @see torchvision ResNet (v1.5: the 3×3 convolution has the stride), FeaturePyramidNetwork with LastLevelMaxPool, RPNHead.
 */
export function buildBackbone(
  builder: ModelBuilder,
  structure: MaskRcnnStructure,
  options: { height: number; width: number; bodyEpsilon: number },
): BuiltLevel[] {
  const image = input(builder, 'image', [1, 3, options.height, options.width]);
  const features = buildPyramid(builder, structure, buildBody(builder, structure, image, options.bodyEpsilon));
  const finest = getDefined(features.at(-1), 'a pyramid level');
  const pool = { module: 'backbone.fpn.extra_blocks.maxpool', value: 'feature_pool' };
  const pooled = maxPool(builder, finest, pool, { kernel: 1, stride: 2, padding: 0 });
  const heads = [...features, pooled].map((feature, level) => ({ feature, ...buildRpnHead(builder, structure, feature, level) }));

  for (const feature of features) markOutput(builder, feature);
  for (const { objectness } of heads) markOutput(builder, objectness);
  for (const { deltas } of heads) markOutput(builder, deltas);
  return heads.map(({ feature }, level) => ({
    height: Number(feature.dims[2]),
    width: Number(feature.dims[3]),
    ...levelNames(level, level < PYRAMID_LEVELS ? 'feature' : 'none'),
  }));
}

function buildBody(builder: ModelBuilder, structure: MaskRcnnStructure, image: Flow, epsilon: number): Flow[] {
  const body = 'backbone.body';
  let x = conv(builder, image, { module: `${body}.conv1` }, { stride: 2, padding: 3 });
  x = relu(builder, batchNorm(builder, x, { module: `${body}.bn1` }, epsilon), { module: `${body}.relu` });
  x = maxPool(builder, x, { module: `${body}.maxpool` }, { kernel: 3, stride: 2, padding: 1 });
  return structure.stages.map(({ blocks }, stage) => {
    for (let block = 0; block < blocks; block++) {
      const stride = stage > 0 && block === 0 ? 2 : 1;
      x = buildBottleneck(builder, x, `${body}.layer${stage + 1}.${block}`, {
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
  const norm = (flow: Flow, module: string): Flow => batchNorm(builder, flow, { module: `${at}.${module}` }, epsilon);
  let y = norm(conv(builder, x, { module: `${at}.conv1` }, { padding: 0 }), 'bn1');
  y = relu(builder, y, { module: `${at}.relu1` });
  y = norm(conv(builder, y, { module: `${at}.conv2` }, { stride, padding: 1 }), 'bn2');
  y = relu(builder, y, { module: `${at}.relu2` });
  y = norm(conv(builder, y, { module: `${at}.conv3` }, { padding: 0 }), 'bn3');
  const kept =
    shortcut === 'identity' ? x : norm(conv(builder, x, { module: `${at}.downsample.0` }, { stride, padding: 0 }), 'downsample.1');
  return relu(builder, add(builder, y, kept, { module: `${at}.add` }), { module: `${at}.relu3` });
}

function buildPyramid(builder: ModelBuilder, { pyramid }: MaskRcnnStructure, maps: readonly Flow[]): Flow[] {
  const fpn = 'backbone.fpn';
  const features: Flow[] = [];
  let above: Flow | undefined;
  for (let level = PYRAMID_LEVELS - 1; level >= 0; level--) {
    const lateral = normedConv(builder, getDefined(maps[level], 'a body map'), `${fpn}.inner_blocks.${level}`, pyramid.norm, {
      padding: 0,
    });
    const merged: Flow =
      above === undefined
        ? lateral
        : add(builder, lateral, resizeNearestLike(builder, above, lateral, { module: `${fpn}.upsample.${level}` }), {
            module: `${fpn}.add.${level}`,
          });
    features.unshift(normedConv(builder, merged, `${fpn}.layer_blocks.${level}`, pyramid.norm, { padding: 1, value: `feature_${level}` }));
    above = merged;
  }
  return features;
}

/** Conv2dNormActivation without activation: `at`.0 is the convolution, `at`.1 its norm. */
function normedConv(builder: ModelBuilder, x: Flow, at: string, norm: BlockNorm, options: { padding: number; value?: string }): Flow {
  const { padding, value } = options;
  const last = (module: string): { module: string; value?: string } => (value === undefined ? { module } : { module, value });
  if (norm === 'none') return conv(builder, x, last(`${at}.0`), { padding });
  return batchNorm(builder, conv(builder, x, { module: `${at}.0` }, { padding }), last(`${at}.1`), BATCH_NORM_EPSILON);
}

function buildRpnHead(builder: ModelBuilder, { rpn }: MaskRcnnStructure, feature: Flow, level: number): { objectness: Flow; deltas: Flow } {
  const head = 'rpn.head';
  const at = `rpn/head/level_${level}`;
  let x = feature;
  for (let n = 0; n < rpn.depth; n++) {
    x = conv(builder, x, { module: `${head}.conv.${n}.0`, node: `${at}/conv/${n}/0` }, { padding: 1 });
    x = relu(builder, x, { module: `${head}.conv.${n}.1`, node: `${at}/conv/${n}/1` });
  }
  const logits = { module: `${head}.cls_logits`, node: `${at}/cls_logits`, value: `objectness_${level}` };
  const boxes = { module: `${head}.bbox_pred`, node: `${at}/bbox_pred`, value: `rpn_deltas_${level}` };
  return { objectness: conv(builder, x, logits, { padding: 0 }), deltas: conv(builder, x, boxes, { padding: 0 }) };
}
