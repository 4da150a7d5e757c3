/** All tensors of a torchvision Mask R-CNN in module order, and the number of parameters per part. */
import { resNetTensors } from '../../../network/resnet.js';
import {
  countTrained,
  type ExpectedTensor,
  type NetworkFamily,
  norm,
  type Size,
  type StateDict,
  times,
  weight,
  withBias,
} from '../../../network/state-dict.js';
import { MASKRCNN_PARTS, type MaskRcnnPart } from '../part-names.js';
import { type BlockNorm, BODY_PLACES, BODY_STAGES, linearIndex, type MaskRcnnSpec, PYRAMID_LEVELS } from './network-spec.js';

export const MASKRCNN_FAMILY: NetworkFamily = {
  name: 'torchvision Mask R-CNN',
  help: '`export` takes the state dict of maskrcnn_resnet50_fpn_v2 or maskrcnn_resnet50_fpn, of any width and depth',
};

/** All tensors of the network, in module order. `roiSize` is the side of the box head's input, from the config. */
export function expectedTensors(network: MaskRcnnSpec, roiSize: number): ExpectedTensor[] {
  return [
    ...resNetTensors(network, BODY_PLACES, network.bodyNorm === 'frozen' ? 'buffer' : 'parameter'),
    ...pyramidTensors(network),
    ...rpnTensors(network),
    ...boxTensors(network, roiSize),
    ...maskTensors(network),
  ];
}

function* pyramidTensors({ pyramid, stages }: MaskRcnnSpec): Generator<ExpectedTensor> {
  const { channels } = pyramid;
  for (let level = 0; level < PYRAMID_LEVELS; level++) {
    const lateral = stages[BODY_STAGES - PYRAMID_LEVELS + level]?.channels;
    yield* convBlock(`backbone.fpn.inner_blocks.${level}`, [channels, lateral, 1, 1], pyramid.norm);
    yield* convBlock(`backbone.fpn.layer_blocks.${level}`, [channels, channels, 3, 3], pyramid.norm);
  }
}

function* rpnTensors({ rpn, pyramid: { channels } }: MaskRcnnSpec): Generator<ExpectedTensor> {
  for (let n = 0; n < rpn.depth; n++) yield* convBlock(`rpn.head.conv.${n}`, [channels, channels, 3, 3], 'none');
  yield* withBias('rpn.head.cls_logits', [rpn.anchorsPerCell, channels, 1, 1]);
  yield* withBias('rpn.head.bbox_pred', [times(rpn.anchorsPerCell, 4), channels, 1, 1]);
}

function* boxTensors({ boxHead, pyramid, classes }: MaskRcnnSpec, roiSize: number): Generator<ExpectedTensor> {
  const at = 'roi_heads.box_head';
  let channels = pyramid.channels;
  for (const [n, out] of boxHead.convs.entries()) {
    yield* convBlock(`${at}.${n}`, [out, channels, 3, 3], boxHead.norm);
    channels = out;
  }
  let features = times(channels, roiSize * roiSize);
  for (const [n, out] of boxHead.hidden.entries()) {
    yield* withBias(boxHead.form === 'two-fc' ? `${at}.fc${6 + n}` : `${at}.${linearIndex(boxHead.convs.length, n)}`, [out, features]);
    features = out;
  }
  yield* withBias('roi_heads.box_predictor.cls_score', [classes, features]);
  yield* withBias('roi_heads.box_predictor.bbox_pred', [times(classes, 4), features]);
}

function* maskTensors({ maskHead, pyramid, classes }: MaskRcnnSpec): Generator<ExpectedTensor> {
  let channels = pyramid.channels;
  for (const [n, out] of maskHead.convs.entries()) {
    yield* convBlock(`roi_heads.mask_head.${n}`, [out, channels, 3, 3], maskHead.norm);
    channels = out;
  }
  const { hidden } = maskHead;
  yield { key: 'roi_heads.mask_predictor.conv5_mask.weight', dims: [channels, hidden, 2, 2], role: 'parameter' };
  yield { key: 'roi_heads.mask_predictor.conv5_mask.bias', dims: [hidden], role: 'parameter' };
  yield* withBias('roi_heads.mask_predictor.mask_fcn_logits', [classes, hidden, 1, 1]);
}

/** A convolution with a norm, or with a bias where there is no norm. */
function* convBlock(at: string, dims: readonly Size[], kind: BlockNorm): Generator<ExpectedTensor> {
  if (kind === 'none') return yield* withBias(`${at}.0`, dims);
  yield* weight(`${at}.0`, dims);
  yield* norm(`${at}.1`, dims[0], 'parameter');
}

/** Number of trained parameters per part. */
export function countParameters(expected: readonly ExpectedTensor[]): ParameterCounts {
  return countTrained(expected, MASKRCNN_PARTS, partOf);
}

/** Per part; `backbone` includes pyramid and RPN head. */
export type ParameterCounts = Readonly<Record<MaskRcnnPart | 'total', number>>;

/** The part of Mask R-CNN that a tensor belongs to. */
export function partOf(key: string): MaskRcnnPart {
  if (key.startsWith('roi_heads.box')) return 'box_head';
  return key.startsWith('roi_heads.mask') ? 'mask_head' : 'backbone';
}

/** Prefix of the keys of Mask Scoring R-CNN's MaskIoU head. */
export const MASK_IOU_PREFIX = 'roi_heads.maskiou.';

export function hasMaskIouHead(state: StateDict): boolean {
  return [...state.keys()].some(key => key.startsWith(MASK_IOU_PREFIX));
}
