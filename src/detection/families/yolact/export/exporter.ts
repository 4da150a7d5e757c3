/** Exports a YOLACT: config, model, and the report of the network. */

import { toJsonObject } from '../../../../base/json/to-json.js';
import type { JsonObject } from '../../../../base/json.js';
import type { ExportedDetector, ExportFacts, FamilyExporter } from '../../../detector/exported-family.js';
import { parseYolactConfig } from '../config.js';
import { YOLACT_DEFAULT_NAMES, type YolactDefaults } from '../config-defaults.js';
import type { YolactRecipe } from '../recipe.js';
import { exportYolact, type YolactExport } from './export-yolact.js';
import type { YolactSpec } from './network-spec.js';

export const yolactExporter: FamilyExporter = {
  readConfig(value, named) {
    const defaults = findDefaults(named);
    const read = parseYolactConfig(value, defaults);
    return {
      read,
      defaultsSource: { name: defaults ?? 'config', possessive: "YOLACT's" },
      export: (state, { height, width }) => describeExport(exportYolact(state, read.config, { height, width })),
    };
  },
};

function findDefaults(name: string | undefined): YolactDefaults | undefined {
  return YOLACT_DEFAULT_NAMES.find(one => one === name);
}

function describeExport(exported: YolactExport): ExportedDetector {
  const { model, recipe, network, parameters, ignored } = exported;
  const report = ({ checkpoint, operators, config }: ExportFacts): JsonObject => ({
    architecture: recipe.architecture,
    layout: findLayout(network),
    input: [1, 3, recipe.image.height, recipe.image.width],
    parameters: { ...parameters },
    checkpoint: { ...checkpoint, ignored: ignored.map(one => ({ ...one })) },
    network: toJsonObject(network),
    priors: countAllPriors(recipe, network),
    upsampling: describeUpsampling(recipe, network),
    operators,
    config,
  });
  return { model, recipe, notes: describeIgnored(exported), report };
}

function describeIgnored({ ignored }: YolactExport): readonly string[] {
  return [...new Set(ignored.map(one => one.why))].map(why => {
    const keys = ignored.filter(one => one.why === why).map(({ key }) => key);
    return `ignored ${keys.length} tensors (${why}): ${keys.slice(0, 4).join(', ')}${keys.length > 4 ? ', …' : ''}`;
  });
}

/** Blocks per stage of the published backbones. */
const RESNETS: Readonly<Record<string, string>> = { '3,4,6,3': 'yolact_resnet50', '3,4,23,3': 'yolact_base' };

/** The original's configuration whose depths the network has, whatever its widths. */
function findLayout({ backbone }: YolactSpec): string {
  const blocks = backbone.stages.map(stage => stage.blocks).join();
  if (backbone.kind === 'darknet') return blocks === '1,2,8,8,4' ? 'yolact_darknet53' : 'mixed';
  return RESNETS[blocks] ?? 'mixed';
}

function countAllPriors({ levels }: YolactRecipe, { heads }: YolactSpec): number {
  const perCell = (level: number): number => heads[heads.length === 1 ? 0 : level]?.priorsPerCell ?? 0;
  return levels.reduce((sum, { height, width }, level) => sum + height * width * perCell(level), 0);
}

/** Per upsampling of the pyramid, coarsest first: 'x2' where both sides double, which NPUs support; else the two sides. */
function describeUpsampling({ levels }: YolactRecipe, { pyramid }: YolactSpec): string[] {
  const sides = levels.slice(0, pyramid.laterals).map(({ height }) => height);
  return sides
    .slice(0, -1)
    .map((side, level) => (side === 2 * (sides[level + 1] ?? 0) ? 'x2' : `${sides[level + 1]} to ${side}`))
    .reverse();
}
