/** Is a source something that the build itself writes? Then no order of stages would be right, and no build the last one. */
import { relative, resolve, sep } from 'node:path';
import { type Located, membersOf } from '../config/located.js';
import type { DiagnosticSink } from '../model/diagnostic.js';
import type { Source } from './connect.js';

export interface Writing {
  readonly projectFolder: string;
  /** The folders of this plan's stages under artifacts/, relative to the project. */
  readonly stageFolders: readonly string[];
}

export function checkSources(
  declared: Located | undefined,
  sources: ReadonlyMap<string, Source>,
  writing: Writing,
  diagnostics: DiagnosticSink,
): void {
  const members = membersOf(declared);
  for (const [name, source] of sources) {
    const paths = source.kind === 'path' ? [source.path] : [...source.paths.values()];
    for (const path of paths) {
      const why = findWhy(path, writing);
      if (why !== undefined)
        diagnostics.error('source-is-written', members.get(name)?.value.span, `source "${name}" ${why.what}`, why.help);
    }
  }
}

function findWhy(path: string, { projectFolder, stageFolders }: Writing): { readonly what: string; readonly help: string } | undefined {
  const inner = relative(projectFolder, resolve(projectFolder, path)).split(sep).join('/');
  const stage = stageFolders.find(folder => isIn(inner, folder));
  if (stage !== undefined)
    return { what: `is the artifact of a stage: ${path}`, help: 'connect it as "stage.port", so that the stage is built first' };
  if (isIn(inner, 'cache')) return { what: `is in the cache: ${path}`, help: "what stands there is no one's to read" };
  const held = ['artifacts', 'cache'].find(folder => isIn(folder, inner));
  return held === undefined
    ? undefined
    : { what: `holds ${held}/, which every build writes to: ${path}`, help: 'name the folders in it that are meant' };
}

function isIn(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`);
}
