/** A plugin as the engine knows it: its declaration and the path of its code. The engine itself never imports a plugin. */
import type { StagePlugin } from '../../stage/define-stage.js';

export interface PluginEntry {
  /** The name that `uses` refers to. */
  readonly name: string;
  readonly plugin: StagePlugin;
  /** Absolute path of the module that a worker imports. Its import graph is the plugin's code. */
  readonly modulePath: string;
  readonly origin: 'built-in' | 'local';
}

/** Finds plugins by name. The composition root supplies it. */
export interface PluginRegistry {
  readonly names: readonly string[];
  /** Names of plugins in the pipeline file that failed to load. */
  readonly failed: ReadonlySet<string>;
  find(name: string): PluginEntry | undefined;
}

/** Whether the plugin runs in the engine's process. Only a built-in plugin may: the module of any other may have changed since this process loaded it. */
export function isInProcess({ plugin, origin }: PluginEntry): boolean {
  return origin === 'built-in' && plugin.isolation === 'in-process';
}
