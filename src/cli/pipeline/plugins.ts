/** Loads plugins: the built-in ones, and those that a pipeline file names. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BUILT_IN_PLUGINS } from '../../../stages/registry.js';
import { digestBytes } from '../../base/digest.js';
import { resolvePlugin } from '../../engine/action/code/resolve-plugin.js';
import type { PluginEntry, PluginRegistry } from '../../engine/model/plugin-entry.js';
import type { StagePlugin } from '../../stage/define-stage.js';
import { noteForeignCode } from '../process/early-exit.js';

export function makeBuiltInRegistry(installRoot: string): PluginRegistry {
  const entries = new Map(
    BUILT_IN_PLUGINS.map(({ plugin, module }): [string, PluginEntry] => [
      plugin.name,
      { name: plugin.name, plugin, modulePath: join(installRoot, module), origin: 'built-in' },
    ]),
  );
  return { names: [...entries.keys()], failed: new Set(), find: name => entries.get(name) };
}

/**
 * Imports a third-party plugin declaration. `specifier` is a path ("./plugins/mine.js", relative to the project folder) or an installed package.
 * A module that was saved since an earlier call is imported again; the modules that it imports are those already loaded in the process.
 * @throws Error if it does not load, or declares no plugin called `name`.
 */
export async function loadPlugin(name: string, specifier: string, projectFolder: string): Promise<PluginEntry> {
  const modulePath = resolvePlugin(specifier, projectFolder);
  const url = pathToFileURL(modulePath);
  url.searchParams.set('digest', digestBytes(readFileSync(modulePath)));
  noteForeignCode();
  const exported = (await import(url.href)) as Record<string, unknown>;
  const declared = Object.values(exported).filter(isPlugin);
  const plugin = declared.find(candidate => candidate.name === name);
  if (plugin === undefined) {
    const names = declared.map(candidate => `"${candidate.name}"`).join(', ');
    throw new Error(names === '' ? `${specifier} exports no plugin` : `${specifier} declares ${names}; use that name in the pipeline file`);
  }
  return { name, plugin, modulePath, origin: 'local' };
}

function isPlugin(value: unknown): value is StagePlugin {
  if (typeof value !== 'object' || value === null) return false;
  const fields = ['name', 'version', 'description', 'params', 'inputs', 'outputs', 'determinism', 'runsModels', 'run'];
  return fields.every(field => field in value) && 'run' in value && typeof value.run === 'function';
}
