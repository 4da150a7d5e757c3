/** Builds the ONNX model and the host recipe of a torchvision Mask R-CNN from its checkpoint. */
import { getDefined } from '../../../../base/invariant.js';
import type { Model } from '../../../../onnx/ir/model.js';
import type { FitPolicy } from '../../../detector/detector-family.js';
import type { RoiBatch } from '../../../detector/detector-part.js';
import { DetectionError } from '../../../error/detection-error.js';
import { type ModelBuilder, startModel } from '../../../network/layers.js';
import { BATCH_NORM_EPSILON } from '../../../network/resnet.js';
import { checkStateDict, type NetworkFamily, type StateDict } from '../../../network/state-dict.js';
import type { DetectorConfig } from '../config.js';
import { makeRecipe } from '../make-recipe.js';
import type { InputSize, MaskRcnnRecipe } from '../recipe.js';
import { buildBackbone } from './backbone.js';
import { FREE_SIZE_STEP, freeImageSize } from './free-size.js';
import { type MaskRcnnSpec, readMaskRcnnSpec, withCurrentNames } from './network-spec.js';
import { buildBoxHead, buildMaskHead } from './roi-heads.js';
import { countParameters, expectedTensors, hasMaskIouHead, MASKRCNN_FAMILY, type ParameterCounts } from './state-keys.js';

export interface MaskRcnnExportOptions {
  readonly height: number;
  readonly width: number;
  readonly roiBatch: { readonly box: RoiBatch; readonly mask: RoiBatch };
  readonly fit: FitPolicy;
  /** Default: 'fixed'. */
  readonly size?: InputSize | undefined;
  /** FrozenBatchNorm2d's eps, which checkpoints do not contain. Required where the body is frozen. */
  readonly frozenEpsilon: number | undefined;
}

export interface MaskRcnnExport {
  readonly model: Model;
  readonly recipe: MaskRcnnRecipe;
  readonly network: MaskRcnnSpec;
  readonly parameters: ParameterCounts;
}

/** The graph needs at least opset 13, for Resize. NPU toolchains read 17. */
const OPSET = 17;

/**
 * Builds the ONNX model of a torchvision Mask R-CNN: three unconnected parts in one graph.
 *
 * Inputs `image` [1, 3, height, width], `box_features` [N, C, 7, 7], `mask_features` [M, C, 14, 14]; outputs `feature_0…3`, `objectness_0…4`,
 * `rpn_deltas_0…4`, `class_logits`, `box_regression`, `mask_logits`, all before permute and reshape. Weights are the bytes of the state dict.
 *
 * @throws DetectionError `checkpoint-mismatch`, `config-mismatch`, `input-size`, `frozen-epsilon`.
 */
export function exportMaskRcnn(checkpoint: StateDict, config: DetectorConfig, options: MaskRcnnExportOptions): MaskRcnnExport {
  const state = withCurrentNames(checkpoint);
  const network = readMaskRcnnSpec(state);
  const expected = expectedTensors(network, config.box.roiSize);
  checkStateDict(state, expected, hasMaskIouHead(state) ? WITH_MASK_IOU : MASKRCNN_FAMILY);
  const { builder, recipe } = buildMaskRcnn(state, network, config, options);
  return { model: builder.model, recipe, network, parameters: countParameters(expected) };
}

const WITH_MASK_IOU: NetworkFamily = {
  ...MASKRCNN_FAMILY,
  help: 'the checkpoint has the MaskIoU head of Mask Scoring R-CNN: export it with architecture maskscoring',
};

/**
 * Builds a model with the three parts from a checked state dict.
 * @throws DetectionError `config-mismatch`, `input-size`, `frozen-epsilon`.
 */
export function buildMaskRcnn(
  state: StateDict,
  network: MaskRcnnSpec,
  config: DetectorConfig,
  options: MaskRcnnExportOptions,
): { readonly builder: ModelBuilder; readonly recipe: MaskRcnnRecipe } {
  checkConfig(config, network);
  checkInputSize(options, config);
  const bodyEpsilon = getBodyEpsilon(network, options);
  const channels = getDefined(network.pyramid.channels, 'the width of the pyramid');
  const builder = startModel(state, 'maskrcnn', OPSET);
  const levels = buildBackbone(builder, network, { ...options, bodyEpsilon });
  buildBoxHead(builder, network, { channels, roiSize: config.box.roiSize, batch: options.roiBatch.box });
  buildMaskHead(builder, network, { channels, roiSize: config.mask.roiSize, batch: options.roiBatch.mask });
  if (options.size === 'free') freeImageSize(builder.model);
  return { builder, recipe: makeRecipe(levels, channels, config, options) };
}

/** @throws DetectionError `config-mismatch` with every field that contradicts the checkpoint. */
function checkConfig(config: DetectorConfig, network: MaskRcnnSpec): void {
  const problems: string[] = [];
  if (config.numClasses !== network.classes)
    problems.push(
      `numClasses is ${config.numClasses}, roi_heads.box_predictor.cls_score has ${network.classes} classes (background included)`,
    );
  const levels = network.stages.length + 1;
  if (config.anchors.sizes.length !== levels)
    problems.push(`anchors.sizes has ${config.anchors.sizes.length} levels, the network has ${levels}`);
  for (const [level, sizes] of config.anchors.sizes.entries()) {
    const anchors = sizes.length * config.anchors.aspectRatios.length;
    if (anchors !== network.rpn.anchorsPerCell)
      problems.push(
        `anchors.sizes[${level}] with aspectRatios gives ${anchors} anchors per cell, rpn.head.cls_logits has ${network.rpn.anchorsPerCell}`,
      );
  }
  if (problems.length === 0) return;
  throw new DetectionError('config-mismatch', `the detector config does not fit the checkpoint: ${problems.join('; ')}`, {
    details: problems,
    help: 'the config describes how the network was trained; use the one that belongs to the checkpoint',
  });
}

function checkInputSize({ height, width, size }: MaskRcnnExportOptions, { input }: DetectorConfig): void {
  const step = input.sizeDivisible;
  if (size === 'free' && step % FREE_SIZE_STEP !== 0)
    throw new DetectionError(
      'input-size',
      `\`size: free\` needs input.sizeDivisible of the config to be a multiple of ${FREE_SIZE_STEP}; it is ${step}`,
      {
        help: 'set `size: fixed`',
      },
    );
  if (height % step === 0 && width % step === 0) return;
  const sizeBy = (round: (steps: number) => number): string =>
    [height, width].map(size => Math.max(1, round(size / step)) * step).join('×');
  const nearest = [...new Set([sizeBy(Math.floor), sizeBy(Math.ceil)])].join(' and ');
  throw new DetectionError(
    'input-size',
    `input height×width ${height}×${width} should be multiples of ${step} (the config's input.sizeDivisible)`,
    { help: `nearest valid sizes: ${nearest}` },
  );
}

function getBodyEpsilon({ bodyNorm }: MaskRcnnSpec, { frozenEpsilon }: MaskRcnnExportOptions): number {
  if (bodyNorm === 'batch-norm') return BATCH_NORM_EPSILON;
  if (frozenEpsilon !== undefined) return frozenEpsilon;
  throw new DetectionError(
    'frozen-epsilon',
    'the body has frozen batch norms (no num_batches_tracked), whose epsilon is not in the checkpoint',
    {
      help: "set the param `frozenBatchNormEpsilon`: 0 for torchvision's published COCO_V1 weights, 1e-5 for networks trained with torchvision's defaults",
    },
  );
}
