/** The axes that `tune` varies if none is given: presets, ranges and methods of the stages that a pipeline has. */
import { resolve } from 'node:path';
import { isJsonList, type Json } from '../../base/json.js';
import { findMember, toJson } from '../../engine/config/located.js';
import { parseYaml } from '../../engine/config/parse-yaml.js';
import { readConfigText } from '../../engine/config/read-text.js';
import { makeDiagnosticList } from '../../engine/model/diagnostic.js';
import type { Plan } from '../../engine/model/plan.js';
import type { GivenAxis } from '../../engine/sweep/resolve-axis.js';

/** By plugin: settings and their values. */
const SETTINGS: Readonly<Record<string, Readonly<Record<string, readonly Json[]>>>> = {
  quantize: {
    range: ['min-max', 'mse', { kind: 'percentile', percentile: 99.99 }, { kind: 'percentile', percentile: 99.9, sides: 'each' }],
    'weight.perChannel': [false, true],
    'weight.range': ['min-max', 'mse'],
    joins: ['shared', 'separate'],
  },
  'round-weights': { method: ['gptq', 'adaround'] },
};

/** Activations in 8 and in 16 bits. */
const PRESETS: readonly Json[] = ['a8w8', 'a16w8', 'xint8'];

/** In the order in which they are tried: the preset first, then each group of stages in graph order. */
export function findTuneAxes(file: string, plan: Plan): readonly GivenAxis[] {
  const groups = new Map([...plan.stages.values()].map(({ group, plugin }) => [group, plugin.name]));
  const quantizers = [...groups].flatMap(([group, plugin]) => (plugin === 'quantize' ? [group] : []));
  const presets = Object.hasOwn(plan.params, 'preset') ? ['preset'] : quantizers.map(group => `${group}.preset`);
  const axes = presets.map(address => ({ address, values: valuesOf(address === 'preset' ? presetsIn(file) : PRESETS) }));
  const settings = [...groups].flatMap(([group, plugin]) =>
    Object.entries(SETTINGS[plugin] ?? {}).map(([setting, values]) => ({ address: `${group}.${setting}`, values: valuesOf(values) })),
  );
  return quantizers.length === 0 ? settings : [...axes, ...settings];
}

function valuesOf(values: readonly Json[]): GivenAxis['values'] {
  return values.map(value => (typeof value === 'string' ? { text: value } : { json: value }));
}

/** What the parameter `preset` may be, as the file declares it. */
function presetsIn(file: string): readonly Json[] {
  const root = parseYaml(file, readConfigText(resolve(file)), makeDiagnosticList());
  const declared = findMember(findMember(findMember(root, 'params'), 'preset'), 'enum');
  const values = declared === undefined ? undefined : toJson(declared);
  return isJsonList(values) ? values : PRESETS;
}
