/** How is a checkpoint of dbolya/yolact exported, and what does the report say? */
import type { Json } from '../../src/base/json.js';
import { parseYolactConfig } from '../../src/detection/families/yolact/config.js';
import { YOLACT_DEFAULT_NAMES, type YolactDefaults } from '../../src/detection/families/yolact/config-defaults.js';
import { exportYolact, type YolactExport } from '../../src/detection/families/yolact/export/export-yolact.js';
import type { YolactStructure } from '../../src/detection/families/yolact/export/network-spec.js';
import type { YolactRecipe } from '../../src/detection/families/yolact/recipe.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readCheckpoint } from './checkpoint.js';
import { configSources, type DefaultsOwner, sayDefaults } from './config-values.js';
import { countOperators, type Exported } from './exported.js';
import type { ExportParams } from './params.js';

const PROBE = 'fpn.lat_layers.0.weight';

export async function exportFromYolact(job: StageJob<ExportParams>, config: Json | undefined): Promise<Exported> {
  const { params, context } = job;
  const defaults = findDefaults(params.defaults);
  const owner: DefaultsOwner = { name: defaults ?? 'config', possessive: "YOLACT's" };
  const read = parseYolactConfig(config, defaults);
  sayDefaults(read, owner, context);
  const { state, facts } = await readCheckpoint(job, PROBE);
  const [, , height = 0, width = 0] = params.input;
  const exported = exportYolact(state, read.config, { height, width });
  const { model, recipe, structure, parameters, ignored } = exported;
  sayIgnored(exported, job);
  return {
    model,
    recipe,
    report: {
      architecture: recipe.architecture,
      layout: layoutOf(structure),
      input: [1, 3, height, width],
      parameters: { ...parameters },
      checkpoint: { ...facts, ignored: ignored.map(one => ({ ...one })) },
      structure: structure as unknown as Json,
      priors: countAllPriors(recipe, structure),
      upsampling: upsamplingOf(recipe, structure),
      operators: countOperators(model),
      config: configSources(read, owner),
    },
  };
}

function findDefaults(name: string | undefined): YolactDefaults | undefined {
  return YOLACT_DEFAULT_NAMES.find(one => one === name);
}

function sayIgnored({ ignored }: YolactExport, { context }: StageJob<ExportParams>): void {
  for (const why of new Set(ignored.map(one => one.why))) {
    const keys = ignored.filter(one => one.why === why).map(({ key }) => key);
    context.log('info', `left out ${keys.length} tensors (${why}): ${keys.slice(0, 4).join(', ')}${keys.length > 4 ? ', …' : ''}`);
  }
}

/** Blocks per stage of the published backbones. */
const RESNETS: Readonly<Record<string, string>> = { '3,4,6,3': 'yolact_resnet50', '3,4,23,3': 'yolact_base' };

/** The original's configuration whose depths the network has, whatever its widths. */
function layoutOf({ backbone }: YolactStructure): string {
  const blocks = backbone.stages.map(stage => stage.blocks).join();
  if (backbone.kind === 'darknet') return blocks === '1,2,8,8,4' ? 'yolact_darknet53' : 'mixed';
  return RESNETS[blocks] ?? 'mixed';
}

function countAllPriors({ levels }: YolactRecipe, { heads }: YolactStructure): number {
  const perCell = (level: number): number => heads[heads.length === 1 ? 0 : level]?.priorsPerCell ?? 0;
  return levels.reduce((sum, { height, width }, level) => sum + height * width * perCell(level), 0);
}

/** Per upsampling of the pyramid, coarsest first: 'x2' where every cell becomes four, which NPUs have a form for; else the sizes. */
function upsamplingOf({ levels }: YolactRecipe, { pyramid }: YolactStructure): string[] {
  const sides = levels.slice(0, pyramid.laterals).map(({ height }) => height);
  return sides
    .slice(0, -1)
    .map((side, level) => (side === 2 * (sides[level + 1] ?? 0) ? 'x2' : `${sides[level + 1]} to ${side}`))
    .reverse();
}
