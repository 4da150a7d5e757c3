/** The names in a pipeline file that shell completion offers. It also reads files with errors, and loads no third-party plugins. */
import { resolve } from 'node:path';
import { findMember, membersOf } from '../../engine/config/located.js';
import { parseYaml } from '../../engine/config/parse-yaml.js';
import { readConfigText } from '../../engine/config/read-text.js';
import { makeDiagnosticList } from '../../engine/model/diagnostic.js';
import { loadWithoutPlugins } from './open-plan.js';

export interface PipelineNames {
  /** Stages and groups with their plugin. */
  readonly targets: readonly { readonly name: string; readonly plugin: string }[];
  readonly params: readonly string[];
}

export async function findNames(file: string): Promise<PipelineNames> {
  const { plan } = await loadWithoutPlugins({ file, param: [], paramsFile: [] });
  if (plan === undefined) return namesInText(file);
  const targets = [...plan.targets].map(([name, [first]]) => ({
    name,
    plugin: (first === undefined ? undefined : plan.stages.get(first)?.plugin.name) ?? '',
  }));
  return { targets, params: Object.keys(plan.params) };
}

/** The keys as written in the file: groups are not expanded. */
function namesInText(file: string): PipelineNames {
  const root = parseYaml(file, readConfigText(resolve(file)), makeDiagnosticList());
  const keysOf = (name: string): readonly string[] =>
    root === undefined ? [] : [...membersOf(findMember(root, name))].map(([key]) => key);
  return { targets: keysOf('stages').map(name => ({ name, plugin: '' })), params: keysOf('params') };
}
