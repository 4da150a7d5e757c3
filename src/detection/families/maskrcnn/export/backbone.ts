/** Builds the first part of Mask R-CNN: ResNet body, feature pyramid with a pooled level, and the RPN head shared by all levels. */
import { getDefined } from '../../../../base/invariant.js';
import {
  add,
  batchNorm,
  conv,
  type Flow,
  input,
  type ModelBuilder,
  markOutput,
  maxPool,
  relu,
  resizeNearestLike,
} from '../../../network/layers.js';
import { BATCH_NORM_EPSILON, buildResNet } from '../../../network/resnet.js';
import { type BuiltLevel, levelNames } from '../make-recipe.js';
import { type BlockNorm, BODY_PLACES, type MaskRcnnSpec, PYRAMID_LEVELS } from './network-spec.js';

/**
 * Adds the part to `builder`: input `image` [1, 3, height, width]; outputs `feature_0` … `feature_3`, `objectness_0` …, `rpn_deltas_0` ….
 * The map of the pooled level is the internal value `feature_pool`.
 * @see torchvision FeaturePyramidNetwork with LastLevelMaxPool, RPNHead.
 */
export function buildBackbone(
  builder: ModelBuilder,
  network: MaskRcnnSpec,
  options: { height: number; width: number; bodyEpsilon: number },
): BuiltLevel[] {
  const image = input(builder, 'image', [1, 3, options.height, options.width]);
  const features = buildPyramid(builder, network, buildResNet(builder, network, image, BODY_PLACES, options.bodyEpsilon));
  const finest = getDefined(features.at(-1), 'a pyramid level');
  const pool = { module: 'backbone.fpn.extra_blocks.maxpool', value: 'feature_pool' };
  const pooled = maxPool(builder, finest, pool, { kernel: 1, stride: 2, padding: 0 });
  const heads = [...features, pooled].map((feature, level) => ({ feature, ...buildRpnHead(builder, network, feature, level) }));

  for (const feature of features) markOutput(builder, feature);
  for (const { objectness } of heads) markOutput(builder, objectness);
  for (const { deltas } of heads) markOutput(builder, deltas);
  return heads.map(({ feature }, level) => ({
    height: Number(feature.dims[2]),
    width: Number(feature.dims[3]),
    ...levelNames(level, level < PYRAMID_LEVELS ? 'feature' : 'none'),
  }));
}

function buildPyramid(builder: ModelBuilder, { pyramid }: MaskRcnnSpec, maps: readonly Flow[]): Flow[] {
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

/** Conv2dNormActivation without activation: the convolution at `at`.0, its norm at `at`.1. */
function normedConv(builder: ModelBuilder, x: Flow, at: string, norm: BlockNorm, options: { padding: number; value?: string }): Flow {
  const { padding, value } = options;
  const last = (module: string): { module: string; value?: string } => (value === undefined ? { module } : { module, value });
  if (norm === 'none') return conv(builder, x, last(`${at}.0`), { padding });
  return batchNorm(builder, conv(builder, x, { module: `${at}.0` }, { padding }), last(`${at}.1`), BATCH_NORM_EPSILON);
}

function buildRpnHead(builder: ModelBuilder, { rpn }: MaskRcnnSpec, feature: Flow, level: number): { objectness: Flow; deltas: Flow } {
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
