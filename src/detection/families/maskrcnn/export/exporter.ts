/** Exports a torchvision Mask R-CNN: config, model, and the report of the network. */

import { toJsonObject } from '../../../../base/json/to-json.js';
import type { Json, JsonObject } from '../../../../base/json.js';
import type { RoiBatch } from '../../../detector/detector-part.js';
import type { ConfiguredExport, ExportedDetector, ExportFacts, ExportOptions, FamilyExporter } from '../../../detector/exported-family.js';
import type { StateDict } from '../../../network/state-dict.js';
import { type DetectorConfig, parseDetectorConfig } from '../config.js';
import { DEFAULTS, type DefaultsName } from '../config-defaults.js';
import type { MaskRcnnRecipe } from '../recipe.js';
import { exportMaskRcnn, type MaskRcnnExport, type MaskRcnnExportOptions } from './export-maskrcnn.js';
import type { MaskRcnnSpec } from './network-spec.js';

export const maskRcnnExporter: FamilyExporter = {
  readConfig: (value, defaults) =>
    configureTorchvisionExport(value, defaults, (state, config, options) => {
      const exported = exportMaskRcnn(state, config, makeExportOptions(options));
      return describeExport(exported, {});
    }),
};

/** What the exporters of Mask R-CNN and its extensions share. */
export function configureTorchvisionExport(
  value: Json | undefined,
  defaults: string | undefined,
  exportWith: (state: StateDict, config: DetectorConfig, options: ExportOptions) => ExportedDetector,
): ConfiguredExport {
  const read = parseDetectorConfig(value, findDefaults(defaults));
  return {
    read,
    defaultsSource: { name: 'torchvision', possessive: "torchvision's" },
    export: (state, options) => exportWith(state, read.config, options),
  };
}

export function makeExportOptions({ height, width, roiBatch, fit, size, frozenBatchNormEpsilon }: ExportOptions): MaskRcnnExportOptions {
  return { height, width, roiBatch, fit, size, frozenEpsilon: frozenBatchNormEpsilon };
}

/** The fields of the report that Mask R-CNN and its extensions have in common. `batches`: of further heads. */
export function describeExport(
  {
    model,
    recipe,
    network,
    parameters,
  }: Pick<MaskRcnnExport, 'model' | 'network'> & {
    readonly recipe: Omit<MaskRcnnRecipe, 'architecture'> & { readonly architecture: string };
    readonly parameters: Readonly<Record<string, number>>;
  },
  batches: Readonly<Record<string, RoiBatch>>,
): ExportedDetector {
  const report = ({ checkpoint, operators, config }: ExportFacts): JsonObject => ({
    architecture: recipe.architecture,
    layout: findLayout(network),
    input: [1, 3, recipe.image.height, recipe.image.width],
    size: recipe.image.size,
    roiBatch: { box: recipe.boxHead.batch, mask: recipe.maskHead.batch, ...batches },
    parameters: { ...parameters },
    checkpoint,
    network: toJsonObject(network),
    operators,
    config,
  });
  return { model, recipe, notes: [], report };
}

function findDefaults(name: string | undefined): DefaultsName | undefined {
  return (Object.keys(DEFAULTS) as DefaultsName[]).find(one => one === name);
}

/** The torchvision builder whose layers the network has, whatever their widths. */
function findLayout({ pyramid, boxHead, maskHead, rpn }: MaskRcnnSpec): string {
  const normed = [pyramid.norm, maskHead.norm].map(norm => norm === 'batch-norm');
  if (normed.every(Boolean) && boxHead.norm === 'batch-norm' && rpn.depth === 2) return 'maskrcnn_resnet50_fpn_v2';
  if (!normed.some(Boolean) && boxHead.form === 'two-fc' && rpn.depth === 1) return 'maskrcnn_resnet50_fpn';
  return 'mixed';
}
