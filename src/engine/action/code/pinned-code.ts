/** The code of a plugin or part: the root that defines it, and its pinned state. */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Digest } from '../../../base/digest.js';
import type { PluginEntry } from '../../model/plugin-entry.js';
import type { RecordedStamps } from '../../store/files/recorded-stamps.js';
import type { LoadableModules } from '../../store/state.js';

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
  readonly stamps: RecordedStamps;
  /** 'racy': a later change may leave the stamps unchanged. */
  readonly proof: 'settled' | 'racy';
  /** The modules and packages behind the digest that may be loaded; undefined if only a table's digest is known. */
  readonly modules: LoadableModules | undefined;
}

/** Returns the code root of a plugin. */
export function codeOf({ plugin, modulePath }: PluginEntry): CodeRoot {
  return { modulePath, reads: plugin.reads ?? [], pluginPath: modulePath };
}

/** Returns the absolute path of an entry of `reads`. @param from the real path of the plugin's module. */
export function locateRead(read: string, from: string): string {
  return read.startsWith('file:') ? fileURLToPath(read) : join(dirname(from), read);
}
