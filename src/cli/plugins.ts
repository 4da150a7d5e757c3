/** Which plugins are there? The built-in ones, and those that a pipeline file names. */
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BUILT_IN_PLUGINS } from '../../stages/registry.js';
import type { PluginEntry, PluginRegistry } from '../engine/plan/plugin-entry.js';
import type { StagePlugin } from '../stage/define-stage.js';

export function makeBuiltInRegistry(installRoot: string): PluginRegistry {
  const entries = new Map(
    BUILT_IN_PLUGINS.map(({ plugin, module }): [string, PluginEntry] => [
      plugin.name,
      { name: plugin.name, plugin, modulePath: join(installRoot, module), origin: 'built-in' },
    ]),
  );
  return { names: [...entries.keys()], find: name => entries.get(name) };
}

/**
 * Imports a third party's declaration. `specifier` is a path ("./plugins/mine.js", from the project folder) or an installed package.
 * @throws Error where it does not load, or declares no plugin called `name`.
 */
export async function loadPlugin(name: string, specifier: string, projectFolder: string): Promise<PluginEntry> {
  const modulePath = isPath(specifier)
    ? resolve(projectFolder, specifier)
    : createRequire(join(projectFolder, 'package.json')).resolve(specifier);
  const exported = (await import(pathToFileURL(modulePath).href)) as Record<string, unknown>;
  const declared = Object.values(exported).filter(isPlugin);
  const plugin = declared.find(candidate => candidate.name === name);
  if (plugin === undefined) {
    const names = declared.map(candidate => `"${candidate.name}"`).join(', ');
    throw new Error(names === '' ? `${specifier} exports no plugin` : `${specifier} declares ${names}; call it so in the pipeline file`);
  }
  return { name, plugin, modulePath, origin: 'local' };
}

function isPath(specifier: string): boolean {
  return /^\.{0,2}[/\\]|^[A-Za-z]:[/\\]/.test(specifier);
}

function isPlugin(value: unknown): value is StagePlugin {
  if (typeof value !== 'object' || value === null) return false;
  const fields = ['name', 'version', 'description', 'params', 'inputs', 'outputs', 'determinism', 'runsModels', 'run'];
  return fields.every(field => field in value) && 'run' in value && typeof value.run === 'function';
}
