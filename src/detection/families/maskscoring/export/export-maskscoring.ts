/** Builds the ONNX model and the host recipe of a Mask Scoring R-CNN from its checkpoint. */

import { getDefined } from '../../../../base/invariant.js';
import type { Model } from '../../../../onnx/ir/model.js';
import type { RoiBatch } from '../../../detector/detector-part.js';
import { checkStateDict, countTrained, type NetworkFamily, type StateDict } from '../../../network/state-dict.js';
import type { DetectorConfig } from '../../maskrcnn/config.js';
import { buildMaskRcnn, type MaskRcnnExportOptions } from '../../maskrcnn/export/export-maskrcnn.js';
import { type MaskRcnnSpec, readMaskRcnnSpec, withCurrentNames } from '../../maskrcnn/export/network-spec.js';
import { expectedTensors, hasMaskIouHead, MASK_IOU_PREFIX, partOf } from '../../maskrcnn/export/state-keys.js';
import { MASKSCORING_PARTS, type MaskScoringPart } from '../part-names.js';
import { type MaskScoringRecipe, makeMaskScoringRecipe } from '../recipe.js';
import { buildMaskIouHead, type MaskIouForm, type MaskIouSpec, maskIouTensors, readMaskIouSpec } from './mask-iou-head.js';

export interface MaskScoringExportOptions extends MaskRcnnExportOptions {
  readonly roiBatch: MaskRcnnExportOptions['roiBatch'] & { readonly maskIou: RoiBatch };
  readonly maskInput: MaskIouForm;
}

export interface MaskScoringExport {
  readonly model: Model;
  readonly recipe: MaskScoringRecipe;
  readonly network: MaskRcnnSpec & { readonly maskIouHead: MaskIouSpec };
  readonly parameters: Readonly<Record<MaskScoringPart | 'total', number>>;
}

/**
 * Builds the ONNX model of torchvision's Mask R-CNN with zjhuang22/maskscoring_rcnn's MaskIoU head: four unconnected parts in one graph. Three are
 * those of `exportMaskRcnn`; `buildMaskIouHead` describes the fourth.
 *
 * @throws DetectionError `checkpoint-mismatch`, `config-mismatch`, `input-size`, `frozen-epsilon`.
 */
export function exportMaskScoring(checkpoint: StateDict, config: DetectorConfig, options: MaskScoringExportOptions): MaskScoringExport {
  const state = withCurrentNames(checkpoint);
  const [network, maskIouHead] = [readMaskRcnnSpec(state), readMaskIouSpec(state)];
  const { roiSize } = config.mask;
  const expected = [...expectedTensors(network, config.box.roiSize), ...maskIouTensors(maskIouHead, network, roiSize)];
  checkStateDict(state, expected, hasMaskIouHead(state) ? MASKSCORING_FAMILY : WITHOUT_MASK_IOU);

  const { builder, recipe } = buildMaskRcnn(state, network, config, options);
  const channels = getDefined(network.pyramid.channels, 'the width of the pyramid');
  buildMaskIouHead(builder, { batch: options.roiBatch.maskIou, channels, roiSize }, options.maskInput);
  return {
    model: builder.model,
    recipe: makeMaskScoringRecipe(recipe, options.roiBatch.maskIou),
    network: { ...network, maskIouHead },
    parameters: countTrained(expected, MASKSCORING_PARTS, key => (key.startsWith(MASK_IOU_PREFIX) ? 'maskiou_head' : partOf(key))),
  };
}

const MASKSCORING_FAMILY: NetworkFamily = {
  name: 'torchvision Mask R-CNN with a MaskIoU head',
  help: "`export` takes torchvision's Mask R-CNN with the head of zjhuang22/maskscoring_rcnn under roi_heads.maskiou., of any width and depth",
};

const WITHOUT_MASK_IOU: NetworkFamily = {
  ...MASKSCORING_FAMILY,
  help: 'the checkpoint has no MaskIoU head (roi_heads.maskiou.): export a plain Mask R-CNN with architecture maskrcnn',
};
