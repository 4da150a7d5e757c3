/** The code of a plugin or part: the root that defines it, and its pinned state. */
import type { Digest } from '../../../base/digest.js';
import type { PluginEntry } from '../../model/plugin-entry.js';
import type { Sights } from '../../store/files/sights.js';
import type { LoadableModules } from '../../store/state-log.js';

/** The root of a plugin's or part's code: everything that its module reaches, and the files that the plugin declares in addition. */
export interface CodeRoot {
  readonly modulePath: string;
  /** Files and folders: relative to the plugin's module, or file: URLs. */
  readonly reads: readonly string[];
  /** The plugin's module. */
  readonly pluginPath: string;
}

/** The code of a plugin or part at the time it was pinned. */
export interface PinnedCode {
  readonly root: CodeRoot;
  readonly digest: Digest;
  /** Stamps of everything that the digest depends on. */
  readonly sights: Sights;
  /** 'racy': a later change may leave the stamps unchanged. */
  readonly proof: 'settled' | 'racy';
  /** The modules and packages behind the digest that may be loaded; undefined if only a table's digest is known. */
  readonly modules: LoadableModules | undefined;
}

/** Returns the code root of a plugin. */
export function codeOf({ plugin, modulePath }: PluginEntry): CodeRoot {
  return { modulePath, reads: plugin.reads ?? [], pluginPath: modulePath };
}
