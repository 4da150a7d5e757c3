/** What is the code of a plugin or a part, and what is known of it once it was looked at? */
import type { Digest } from '../../../base/digest.js';
import type { PluginEntry } from '../../model/plugin-entry.js';
import type { Sights } from '../../store/files/sights.js';
import type { LoadableModules } from '../../store/state-log.js';

/** What is code of a plugin or of a part? All that its module reaches, and what the plugin declares besides. */
export interface CodeRoot {
  readonly modulePath: string;
  /** Files and folders: relative to the plugin's module, or file: URLs. */
  readonly reads: readonly string[];
  /** The plugin's module. */
  readonly pluginPath: string;
}

/** The code of a plugin or a part, as it was when it was looked at. */
export interface PinnedCode {
  readonly root: CodeRoot;
  readonly digest: Digest;
  /** How everything looked that the digest depends on. */
  readonly sights: Sights;
  /** 'racy': a change since may not show in the sights. */
  readonly proof: 'settled' | 'racy';
  /** What the digest is of, as far as it may be loaded; undefined where a table knows the digest alone. */
  readonly modules: LoadableModules | undefined;
}

/** The code of a plugin. */
export function codeOf({ plugin, modulePath }: PluginEntry): CodeRoot {
  return { modulePath, reads: plugin.reads ?? [], pluginPath: modulePath };
}
