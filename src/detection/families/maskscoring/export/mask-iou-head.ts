/** Builds the MaskIoU head of Mask Scoring R-CNN, and lists its tensors. */
import { invariant } from '../../../../base/invariant.js';
import { getValue } from '../../../../onnx/ir/edit.js';
import { viewModel } from '../../../../onnx/rewrite/graph-view.js';
import { applyRule } from '../../../../onnx/rewrite/rewriter.js';
import { getRule } from '../../../../onnx/rules/target/get-rule.js';
import { concat, conv, type Flow, flatten, input, linear, type ModelBuilder, markOutput, relu } from '../../../network/layers.js';
import { type ExpectedTensor, type Size, type StateDict, times, withBias } from '../../../network/state-dict.js';
import type { MaskRcnnSpec } from '../../maskrcnn/export/network-spec.js';
import type { RoiHeadOptions } from '../../maskrcnn/export/roi-heads.js';

const FEATURES = 'roi_heads.maskiou.feature_extractor';
const PREDICTOR = 'roi_heads.maskiou.predictor.maskiou';

/** The last convolution has stride 2. */
const CONVS = [1, 2, 3, 4] as const;
const LINEARS = [1, 2] as const;

export interface MaskIouSpec {
  /** Output channels of the convolutions, all 3×3. */
  readonly convs: readonly Size[];
  /** Widths of the fully connected layers before the last one, which predicts one IoU per class. */
  readonly hidden: readonly Size[];
}

/** Missing tensors give undefined sizes; `checkStateDict` reports them. */
export function readMaskIouSpec(state: StateDict): MaskIouSpec {
  const size = (module: string): Size => state.get(`${FEATURES}.${module}.weight`)?.dims[0];
  return { convs: CONVS.map(n => size(`maskiou_fcn${n}`)), hidden: LINEARS.map(n => size(`maskiou_fc${n}`)) };
}

/** All tensors of the head, in module order. `roiSize` is the side of the mask head's input, from the config. */
export function* maskIouTensors(
  { convs, hidden }: MaskIouSpec,
  { pyramid, classes }: MaskRcnnSpec,
  roiSize: number,
): Generator<ExpectedTensor> {
  let channels = pyramid.channels === undefined ? undefined : pyramid.channels + 1;
  for (const [index, out] of convs.entries()) {
    yield* withBias(`${FEATURES}.maskiou_fcn${index + 1}`, [out, channels, 3, 3]);
    channels = out;
  }
  const side = Math.ceil(roiSize / 2);
  let features = times(channels, side * side);
  for (const [index, out] of hidden.entries()) {
    yield* withBias(`${FEATURES}.maskiou_fc${index + 1}`, [out, features]);
    features = out;
  }
  yield* withBias(PREDICTOR, [classes, features]);
}

/**
 * How the first convolution takes the mask. 'concat': as an additional channel after the features, 257 in total at full width. 'split': by a separate
 * convolution, whose result is added to that of the features. The sum is equal, channel counts fit an NPU's lanes, and each input has its own scale.
 */
export type MaskIouForm = 'split' | 'concat';

/**
 * Inputs `maskiou_features` [batch, C, size, size] and `mask_probability` [batch, 1, size, size]; output `mask_iou` [batch, classes], not clamped.
 * @see zjhuang22/maskscoring_rcnn MaskIoUFeatureExtractor, MaskIoUPredictor; Huang et al., Mask Scoring R-CNN, 2019, section 3.2.
 */
export function buildMaskIouHead(builder: ModelBuilder, { batch, channels, roiSize }: RoiHeadOptions, form: MaskIouForm): void {
  const rois = batch === 'free' ? 'maskiou_rois' : batch;
  const features = input(builder, 'maskiou_features', [rois, channels, roiSize, roiSize]);
  const mask = input(builder, 'mask_probability', [rois, 1, roiSize, roiSize]);
  const joined = concat(builder, [features, mask], { module: `${FEATURES}.concat` });
  const first = conv(builder, joined, { module: `${FEATURES}.maskiou_fcn1` }, { padding: 1 });
  let x = activate(builder, first, 'maskiou_fcn1');
  for (const n of CONVS.slice(1)) {
    const module = `maskiou_fcn${n}`;
    const stride = n === CONVS.length ? 2 : 1;
    x = activate(builder, conv(builder, x, { module: `${FEATURES}.${module}` }, { stride, padding: 1 }), module);
  }
  x = flatten(builder, x, { module: `${FEATURES}.flatten` });
  for (const n of LINEARS) x = activate(builder, linear(builder, x, { module: `${FEATURES}.maskiou_fc${n}` }), `maskiou_fc${n}`);
  markOutput(builder, linear(builder, x, { module: PREDICTOR, value: 'mask_iou' }));
  if (form === 'split') splitFirst(builder, first);
}

function activate(builder: ModelBuilder, x: Flow, module: string): Flow {
  return relu(builder, x, { module: `${FEATURES}.${module}.relu` });
}

function splitFirst({ model }: ModelBuilder, { id }: Flow): void {
  const { producer } = getValue(model.graph, id);
  invariant(producer !== undefined, 'the first convolution of the MaskIoU head has no node');
  const { record } = applyRule(viewModel(model), getRule('conv-of-concat', undefined), { nodes: new Set([producer]), check: () => [] });
  invariant(record.applied.length === 1, `the first convolution of the MaskIoU head was not split: ${record.declined[0]?.reason}`);
}
