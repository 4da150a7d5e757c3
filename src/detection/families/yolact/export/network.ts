/** Builds the network of YOLACT: backbone, feature pyramid, prototypes and the heads of every level. */
import { getDefined } from '../../../../base/invariant.js';
import { buildDarknet } from '../../../network/darknet.js';
import { add, conv, type Flow, input, type ModelBuilder, markOutput, maxPool, relu, resizeBilinear } from '../../../network/layers.js';
import { BATCH_NORM_EPSILON, buildResNet } from '../../../network/resnet.js';
import type { YolactLevel, YolactPrototypes } from '../recipe.js';
import { RESNET_PLACES, type YolactSpec } from './network-spec.js';

export interface BuiltNetwork {
  /** Finest first. */
  readonly levels: readonly YolactLevel[];
  readonly prototypes: YolactPrototypes;
}

/**
 * Adds the network to `builder`: input `image` [1, 3, side, side]; outputs, per level, `bbox_n` [1, 4A, h, w], `conf_n` [1, A · classes, h, w],
 * `mask_n` [1, A · k, h, w], and `proto_raw` [1, k, h, w].
 * @see dbolya/yolact Yolact, FPN, PredictionModule, make_net.
 */
export function buildNetwork(builder: ModelBuilder, network: YolactSpec, options: { side: number; levels: number }): BuiltNetwork {
  const { backbone, pyramid } = network;
  const image = input(builder, 'image', [1, 3, options.side, options.side]);
  const maps =
    backbone.kind === 'resnet'
      ? buildResNet(builder, backbone, image, RESNET_PLACES, BATCH_NORM_EPSILON)
      : buildDarknet(builder, backbone, image, 'backbone');
  const features = buildPyramid(builder, maps.slice(-pyramid.laterals), { ...pyramid, levels: options.levels });
  const prototypes = buildPrototypes(builder, network, getDefined(features[0], 'a pyramid level'));
  const heads = features.map((feature, level) => buildHead(builder, network, feature, level));

  for (const { boxes } of heads) markOutput(builder, boxes);
  for (const { classes } of heads) markOutput(builder, classes);
  for (const { coefficients } of heads) markOutput(builder, coefficients);
  markOutput(builder, prototypes);
  return {
    levels: features.map((feature, level) => ({ ...sizeOf(feature), ...levelNames(level) })),
    prototypes: { value: PROTOTYPES, channels: Number(prototypes.dims[1]), ...sizeOf(prototypes) },
  };
}

const PROTOTYPES = 'proto_raw';

/** Output names of level `level`, counted from 0 for the finest. */
function levelNames(level: number): Pick<YolactLevel, 'boxes' | 'classes' | 'coefficients'> {
  return { boxes: `bbox_${level}`, classes: `conf_${level}`, coefficients: `mask_${level}` };
}

/** From the coarsest map on: lateral 1×1 convolution plus the resized coarser level; then a 3×3 convolution and a ReLU per level; then the downsampled levels. */
function buildPyramid(
  builder: ModelBuilder,
  maps: readonly Flow[],
  { levels, downsampling }: { levels: number; downsampling: 'conv' | 'pool' },
): Flow[] {
  const merged: Flow[] = [];
  for (const [n, map] of maps.toReversed().entries()) {
    const lateral = conv(builder, map, { module: `fpn.lat_layers.${n}` }, { padding: 0 });
    const above = merged[0];
    merged.unshift(above === undefined ? lateral : add(builder, upsampleTo(builder, above, map, n), lateral, { module: `fpn.add.${n}` }));
  }
  const features = merged
    .toReversed()
    .map((flow, n) =>
      relu(builder, conv(builder, flow, { module: `fpn.pred_layers.${n}` }, { padding: 1 }), { module: `fpn.pred_relu.${n}` }),
    )
    .toReversed();
  for (let n = 0; features.length < levels; n++) {
    const last = getDefined(features.at(-1), 'a pyramid level');
    const module = `fpn.downsample_layers.${n}`;
    features.push(
      downsampling === 'conv'
        ? conv(builder, last, { module }, { stride: 2, padding: 1 })
        : maxPool(builder, last, { module }, { kernel: 1, stride: 2, padding: 0 }),
    );
  }
  return features;
}

function upsampleTo(builder: ModelBuilder, x: Flow, map: Flow, n: number): Flow {
  return resizeBilinear(builder, x, [getDefined(map.dims[2], 'a height'), getDefined(map.dims[3], 'a width')], {
    module: `fpn.interpolate.${n}`,
  });
}

/** Convolutions and upsamplings ×2, each followed by a ReLU. The host applies the last ReLU. */
function buildPrototypes(builder: ModelBuilder, { prototypes }: YolactSpec, finest: Flow): Flow {
  let x = finest;
  for (const [index, layer] of prototypes.entries()) {
    const module = `proto_net.${2 * index}`;
    const last = index === prototypes.length - 1;
    const place = last ? { module, value: PROTOTYPES } : { module };
    x =
      layer.kind === 'conv'
        ? conv(builder, x, place, { padding: (layer.kernel - 1) / 2 })
        : resizeBilinear(builder, x, [2 * Number(x.dims[2]), 2 * Number(x.dims[3])], place);
    if (!last) x = relu(builder, x, { module: `proto_net.${2 * index + 1}` });
  }
  return x;
}

function buildHead(
  builder: ModelBuilder,
  { heads }: YolactSpec,
  feature: Flow,
  level: number,
): { boxes: Flow; classes: Flow; coefficients: Flow } {
  const shared = heads.length === 1;
  const index = shared ? 0 : level;
  const module = `prediction_layers.${index}`;
  const at = shared ? `prediction_layers/0/level_${level}` : `prediction_layers/${index}`;
  let x = feature;
  for (const n of getDefined(heads[index], 'a head').features.keys()) {
    const [layer, activation] = [2 * n, 2 * n + 1];
    x = conv(builder, x, { module: `${module}.upfeature.${layer}`, node: `${at}/upfeature/${layer}` }, { padding: 1 });
    x = relu(builder, x, { module: `${module}.upfeature.${activation}`, node: `${at}/upfeature/${activation}` });
  }
  const names = levelNames(level);
  const predict = (layer: string, value: string): Flow =>
    conv(builder, x, { module: `${module}.${layer}`, node: `${at}/${layer}`, value }, { padding: 1 });
  return {
    boxes: predict('bbox_layer', names.boxes),
    classes: predict('conf_layer', names.classes),
    coefficients: predict('mask_layer', names.coefficients),
  };
}

function sizeOf({ dims }: Flow): { height: number; width: number } {
  return { height: Number(dims[2]), width: Number(dims[3]) };
}
