/** What does the engine know of a plugin? Its declaration and where its code is; it never imports one itself. */
import type { StagePlugin } from '../../stage/define-stage.js';

export interface PluginEntry {
  /** The name that `uses` names. */
  readonly name: string;
  readonly plugin: StagePlugin;
  /** Absolute path of the module whose import graph is the plugin's code, and which a worker imports. */
  readonly modulePath: string;
  readonly origin: 'built-in' | 'local';
}

/** Finds plugins by name: the composition root supplies it. */
export interface PluginRegistry {
  readonly names: readonly string[];
  /** Those that the pipeline file names and that do not load. */
  readonly failed: ReadonlySet<string>;
  find(name: string): PluginEntry | undefined;
}

/** Does it run in the engine's process? Only a built-in one may: the module of any other may have changed since this process loaded it. */
export function isInProcess({ plugin, origin }: PluginEntry): boolean {
  return origin === 'built-in' && plugin.isolation === 'in-process';
}
