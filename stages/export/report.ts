/** What does the report of an export say? Sizes that were read, parameters per part, operators, and where every config value came from. */
import type { Json, JsonObject } from '../../src/base/json.js';
import { isJsonObject } from '../../src/base/json.js';
import type { ReadConfig } from '../../src/detection/torchvision/config.js';
import type { MaskRcnnExport } from '../../src/detection/torchvision/export-maskrcnn.js';
import type { MaskScoringExport } from '../../src/detection/torchvision/export-maskscoring.js';
import type { MaskRcnnStructure } from '../../src/detection/torchvision/structure.js';
import type { Model } from '../../src/onnx/ir/model.js';

export interface CheckpointFacts {
  readonly tensors: number;
  /** What every key began with; '' where nothing was removed. */
  readonly prefix: string;
  readonly converted: Readonly<Record<string, number>>;
}

export function makeReport(exported: MaskRcnnExport | MaskScoringExport, read: ReadConfig, checkpoint: CheckpointFacts): JsonObject {
  const { recipe, structure, parameters } = exported;
  return {
    architecture: recipe.architecture,
    layout: layoutOf(structure),
    input: [1, 3, recipe.image.height, recipe.image.width],
    roiBatch: {
      box: recipe.boxHead.batch,
      mask: recipe.maskHead.batch,
      ...(recipe.architecture === 'maskscoring' ? { maskIou: recipe.maskIouHead.batch } : {}),
    },
    parameters: { ...parameters },
    checkpoint: { ...checkpoint },
    structure: structure as unknown as Json,
    operators: countOperators(exported.model),
    config: configSources(read),
  };
}

/** The torchvision builder whose forms the network has, whatever its widths. */
function layoutOf({ pyramid, boxHead, maskHead, rpn }: MaskRcnnStructure): string {
  const normed = [pyramid.norm, maskHead.norm].map(norm => norm === 'batch-norm');
  if (normed.every(Boolean) && boxHead.norm === 'batch-norm' && rpn.depth === 2) return 'maskrcnn_resnet50_fpn_v2';
  if (!normed.some(Boolean) && boxHead.form === 'two-fc' && rpn.depth === 1) return 'maskrcnn_resnet50_fpn';
  return 'mixed';
}

function countOperators(model: Model): JsonObject {
  const counts: Record<string, number> = {};
  for (const node of model.graph.nodes.values()) counts[node.opType] = (counts[node.opType] ?? 0) + 1;
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function configSources({ config, fromDefaults }: ReadConfig): Json[] {
  const taken = new Set(fromDefaults);
  return flatten(config as unknown as JsonObject, '').map(([field, value]) => ({
    field,
    value,
    from: taken.has(field) ? 'torchvision' : 'config',
  }));
}

/** Sections by their fields; lists and categories as they are. */
export function flatten(section: JsonObject, path: string): [string, Json][] {
  return Object.entries(section).flatMap(([name, value]): [string, Json][] => {
    const at = path === '' ? name : `${path}.${name}`;
    return isJsonObject(value) && name !== 'categories' ? flatten(value, at) : [[at, value]];
  });
}
