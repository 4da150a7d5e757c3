/** Builds the box head and the mask head, each on a batch of pooled RoIs. */

import type { RoiBatch } from '../../../detector/detector-part.js';
import {
  batchNorm,
  conv,
  convTranspose,
  type Flow,
  flatten,
  input,
  linear,
  type ModelBuilder,
  markOutput,
  relu,
} from '../../../network/layers.js';
import { BATCH_NORM_EPSILON } from '../../../network/resnet.js';
import type { Size } from '../../../network/state-dict.js';
import { type BlockNorm, linearIndex, type MaskRcnnSpec } from './network-spec.js';

export interface RoiHeadOptions {
  readonly channels: number;
  readonly roiSize: number;
  readonly batch: RoiBatch;
}

/**
 * Input `box_features` [batch, C, size, size]; outputs `class_logits` [batch, classes] and `box_regression` [batch, 4 · classes].
 * @see torchvision FastRCNNConvFCHead, TwoMLPHead, FastRCNNPredictor.
 */
export function buildBoxHead(builder: ModelBuilder, { boxHead }: MaskRcnnSpec, options: RoiHeadOptions): void {
  const at = 'roi_heads.box_head';
  const { batch, channels, roiSize } = options;
  let x = input(builder, 'box_features', [batch === 'free' ? 'box_rois' : batch, channels, roiSize, roiSize]);
  x = buildConvs(builder, x, at, boxHead);
  x = flatten(builder, x, { module: boxHead.form === 'two-fc' ? `${at}.flatten` : `${at}.${boxHead.convs.length}` });
  for (const n of boxHead.hidden.keys()) {
    const index = linearIndex(boxHead.convs.length, n);
    const [module, activation] = boxHead.form === 'two-fc' ? [`fc${6 + n}`, `relu${6 + n}`] : [`${index}`, `${index + 1}`];
    x = relu(builder, linear(builder, x, { module: `${at}.${module}` }), { module: `${at}.${activation}` });
  }
  markOutput(builder, linear(builder, x, { module: 'roi_heads.box_predictor.cls_score', value: 'class_logits' }));
  markOutput(builder, linear(builder, x, { module: 'roi_heads.box_predictor.bbox_pred', value: 'box_regression' }));
}

/**
 * Input `mask_features` [batch, C, size, size]; output `mask_logits` [batch, classes, 2 · size, 2 · size].
 * @see torchvision MaskRCNNHeads, MaskRCNNPredictor.
 */
export function buildMaskHead(builder: ModelBuilder, { maskHead }: MaskRcnnSpec, options: RoiHeadOptions): void {
  const predictor = 'roi_heads.mask_predictor';
  const { batch, channels, roiSize } = options;
  let x = input(builder, 'mask_features', [batch === 'free' ? 'mask_rois' : batch, channels, roiSize, roiSize]);
  x = buildConvs(builder, x, 'roi_heads.mask_head', maskHead);
  x = relu(builder, convTranspose(builder, x, { module: `${predictor}.conv5_mask` }), { module: `${predictor}.relu` });
  markOutput(builder, conv(builder, x, { module: `${predictor}.mask_fcn_logits`, value: 'mask_logits' }, { padding: 0 }));
}

/** Conv2dNormActivation blocks: 3×3 convolution at `at`.n.0, optional norm at `at`.n.1, then a ReLU. */
function buildConvs(builder: ModelBuilder, x: Flow, at: string, { convs, norm }: { convs: readonly Size[]; norm: BlockNorm }): Flow {
  let y = x;
  for (const n of convs.keys()) {
    const block = `${at}.${n}`;
    y = conv(builder, y, { module: `${block}.0` }, { padding: 1 });
    if (norm === 'batch-norm') y = batchNorm(builder, y, { module: `${block}.1` }, BATCH_NORM_EPSILON);
    y = relu(builder, y, { module: `${block}.${norm === 'batch-norm' ? 2 : 1}` });
  }
  return y;
}
