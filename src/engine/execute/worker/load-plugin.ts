/** Which plugin does a module declare? Its default export, or the export whose declaration has the name. */
import { pathToFileURL } from 'node:url';
import type { StagePlugin } from '../../../stage/define-stage.js';
import { EngineError } from '../../model/engine-error.js';

/** A plugin whose params have been parsed against its own schema: any plugin takes its own. */
export type LoadedPlugin = StagePlugin<unknown>;

/** @throws EngineError `plugin-module`. */
export async function loadPlugin(modulePath: string, name: string): Promise<LoadedPlugin> {
  const exported: Record<string, unknown> = await import(pathToFileURL(modulePath).href);
  const declared = Object.values(exported).find(value => isPlugin(value) && value.name === name);
  if (declared === undefined) throw new EngineError('plugin-module', `${modulePath} exports no plugin named "${name}"`);
  return declared as LoadedPlugin;
}

function isPlugin(value: unknown): value is LoadedPlugin {
  return typeof value === 'object' && value !== null && 'run' in value && typeof value.run === 'function' && 'name' in value;
}
