/** Loading of a plugin from a module: the export whose declaration has the given name. */
import { pathToFileURL } from 'node:url';
import type { StagePlugin } from '../../../stage/define-stage.js';
import { EngineError } from '../../model/engine-error.js';

/** A plugin whose params were already parsed against its own schema. */
export type LoadedPlugin = StagePlugin<unknown>;

/** @throws EngineError `plugin-module`. */
export async function loadPlugin(modulePath: string, name: string): Promise<LoadedPlugin> {
  return findPlugin(await import(pathToFileURL(modulePath).href), modulePath, name);
}

/** @param exported the exports of the module. @throws EngineError `plugin-module`. */
export function findPlugin(exported: Readonly<Record<string, unknown>>, modulePath: string, name: string): LoadedPlugin {
  const declared = Object.values(exported).find(value => isPlugin(value) && value.name === name);
  if (declared === undefined) throw new EngineError('plugin-module', `${modulePath} exports no plugin named "${name}"`);
  return declared as LoadedPlugin;
}

function isPlugin(value: unknown): value is LoadedPlugin {
  return typeof value === 'object' && value !== null && 'run' in value && typeof value.run === 'function' && 'name' in value;
}
