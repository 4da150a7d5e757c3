/** Folders that a model is split over: of a connected folder, only the files that another input names become inputs. */
import { join, sep } from 'node:path';
import type { PathKind } from '../../base/files/path-kind.js';
import { realPathOf } from '../../base/files/real-path.js';
import { findOwn } from '../../base/find-own.js';
import type { DiagnosticSink } from '../model/diagnostic.js';
import type { InputBinding, InputRef } from '../model/plan.js';
import type { PluginEntry } from '../model/plugin-entry.js';
import type { Written } from './written-places.js';

/** What planning learns about files that sources name. The plan depends on the answers. */
export interface FileFacts {
  readonly projectFolder: string;
  /** What a path of the pipeline file leads to. */
  kindOf(path: string): PathKind;
  /** A path of the pipeline file without links, absolute. */
  realOf(path: string): string;
  /** The files that the file at a path of the pipeline file names, by the plugin's `namedFiles`. */
  listNamed(entry: PluginEntry, path: string): readonly string[];
  /** Why a path cannot be a source: the build writes to it. */
  findWritten(path: string): Written | undefined;
  /** Gets the names of the sources that were narrowed. */
  readonly narrowed: Set<string>;
}

type Bindings = Readonly<Record<string, InputBinding>>;
type SourceRef = Extract<InputRef, { readonly kind: 'source' }>;

/**
 * Replaces the folder of the plugin's `namedFiles` by a record of its files. Named files that do not exist are left out: the plugin knows why it needs them.
 * Without sources at both ports, nothing changes.
 */
export function narrowFolder(entry: PluginEntry, bindings: Bindings, facts: FileFacts, diagnostics: DiagnosticSink): Bindings {
  const named = entry.plugin.namedFiles;
  if (named === undefined) return bindings;
  const folder = findOwn(bindings, named.port);
  const naming = findOwn(bindings, named.input);
  if (folder?.kind !== 'source' || naming?.kind !== 'source' || facts.kindOf(folder.path) !== 'folder') return bindings;
  facts.narrowed.add(folder.name);
  const entries: Record<string, InputRef> = {};
  for (const file of facts.listNamed(entry, naming.path)) {
    const path = join(folder.path, file);
    if (facts.kindOf(path) !== 'file') continue;
    checkNamed(folder, file, facts, diagnostics);
    entries[file] = { ...folder, name: `${folder.name}/${file}`, path };
  }
  return { ...bindings, [named.port]: { kind: 'record', entries } };
}

function checkNamed(folder: SourceRef, file: string, { projectFolder, realOf, findWritten }: FileFacts, diagnostics: DiagnosticSink): void {
  const path = join(folder.path, file);
  const real = realOf(path);
  const written = findWritten(path) ?? findInBuildFolder(path, real, projectFolder);
  if (written !== undefined) {
    diagnostics.error('source-is-written', folder.span, `source "${folder.name}": a named file ${written.what}`, written.help);
  } else if (!isWithin(real, realOf(folder.path))) {
    diagnostics.error(
      'source-outside-folder',
      folder.span,
      `source "${folder.name}": the named file "${file}" is a link out of the folder, to ${real}`,
      'copy the file into the folder, or name the folder where the file is',
    );
  }
}

/** A model must not choose files of artifacts/ and cache/, also those that no stage of this pipeline writes. */
function findInBuildFolder(path: string, real: string, projectFolder: string): Pick<Written, 'what' | 'help'> | undefined {
  const inside = ['artifacts', 'cache'].find(name => isWithin(real, realPathOf(join(projectFolder, name))));
  if (inside === undefined) return undefined;
  return { what: `is in ${inside}/, which belongs to builds: ${path}`, help: `move the file out of ${inside}/` };
}

function isWithin(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}
