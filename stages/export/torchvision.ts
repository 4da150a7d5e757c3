/** How is a checkpoint of torchvision's Mask R-CNN, plain or with a MaskIoU head, exported, and what does the report say? */
import type { Json } from '../../src/base/json.js';
import { type DetectorConfig, parseDetectorConfig } from '../../src/detection/families/maskrcnn/config.js';
import type { DefaultsName } from '../../src/detection/families/maskrcnn/config-defaults.js';
import { exportMaskRcnn, type MaskRcnnExport } from '../../src/detection/families/maskrcnn/export/export-maskrcnn.js';
import type { MaskRcnnStructure } from '../../src/detection/families/maskrcnn/export/network-spec.js';
import { exportMaskScoring, type MaskScoringExport } from '../../src/detection/families/maskscoring/export/export-maskscoring.js';
import type { StateDict } from '../../src/detection/network/state-dict.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readCheckpoint } from './checkpoint.js';
import { configSources, type DefaultsOwner, sayDefaults } from './config-values.js';
import { countOperators, type Exported } from './exported.js';
import type { ExportParams } from './params.js';

const PROBE = 'backbone.body.conv1.weight';

const OWNER: DefaultsOwner = { name: 'torchvision', possessive: "torchvision's" };

export async function exportFromTorchvision(job: StageJob<ExportParams>, config: Json | undefined): Promise<Exported> {
  const { params, context } = job;
  const read = parseDetectorConfig(config, params.defaults as DefaultsName | undefined);
  sayDefaults(read, OWNER, context);
  const { state, facts } = await readCheckpoint(job, PROBE);
  const { model, recipe, structure, parameters } = build(state, read.config, params);
  return {
    model,
    recipe,
    report: {
      architecture: recipe.architecture,
      layout: layoutOf(structure),
      input: [1, 3, recipe.image.height, recipe.image.width],
      size: recipe.image.size,
      roiBatch: {
        box: recipe.boxHead.batch,
        mask: recipe.maskHead.batch,
        ...(recipe.architecture === 'maskscoring' ? { maskIou: recipe.maskIouHead.batch } : {}),
      },
      parameters: { ...parameters },
      checkpoint: { ...facts },
      structure: structure as unknown as Json,
      operators: countOperators(model),
      config: configSources(read, OWNER),
    },
  };
}

function build(state: StateDict, config: DetectorConfig, params: ExportParams): MaskRcnnExport | MaskScoringExport {
  const [, , height = 0, width = 0] = params.input;
  const { architecture, roiBatch, fit, size, frozenBatchNormEpsilon: frozenEpsilon, maskInput = 'split' } = params;
  const options = { height, width, roiBatch, fit, size, frozenEpsilon };
  return architecture === 'maskscoring'
    ? exportMaskScoring(state, config, { ...options, roiBatch: { maskIou: 'free', ...roiBatch }, maskInput })
    : exportMaskRcnn(state, config, options);
}

/** The torchvision builder whose forms the network has, whatever its widths. */
function layoutOf({ pyramid, boxHead, maskHead, rpn }: MaskRcnnStructure): string {
  const normed = [pyramid.norm, maskHead.norm].map(norm => norm === 'batch-norm');
  if (normed.every(Boolean) && boxHead.norm === 'batch-norm' && rpn.depth === 2) return 'maskrcnn_resnet50_fpn_v2';
  if (!normed.some(Boolean) && boxHead.form === 'two-fc' && rpn.depth === 1) return 'maskrcnn_resnet50_fpn';
  return 'mixed';
}
