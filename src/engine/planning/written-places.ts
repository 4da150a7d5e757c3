/** The places that a build writes to: artifacts of its stages, and caches. A source that leads to one of them is read before or after it is written. */
import { join, relative, resolve, sep } from 'node:path';
import { realPathOf } from '../../base/real-path.js';

export interface WrittenPlaces {
  readonly projectFolder: string;
  /** The folders of the plan's stages under artifacts/, relative to the project. */
  readonly stageFolders: ReadonlySet<string>;
  /** Absolute paths of caches that stand elsewhere. */
  readonly caches: readonly string[];
}

/** Why a path is no source. */
export interface Written {
  /** Follows the name of the source: "is in the cache: cache/logs". */
  readonly what: string;
  readonly help: string;
}

/** @returns what says of a path (absolute, or relative to the project) why it is no source: as it is written, and where it really leads. */
export function createWrittenCheck({ projectFolder, stageFolders, caches }: WrittenPlaces): (path: string) => Written | undefined {
  const folders = [
    ...['artifacts', 'cache'].map(name => ({ name, real: realPathOf(join(projectFolder, name)) })),
    // Such a folder may hold other things too.
    ...caches.flatMap(root => CONTENT.map(name => ({ name: 'cache', real: realPathOf(join(root, name)) }))),
  ];

  /** @param inner relative to the project, with slashes. */
  const judge = (inner: string, path: string): Written | undefined => {
    if (foldersAbove(inner).some(folder => stageFolders.has(folder)))
      return { what: `is the artifact of a stage: ${path}`, help: 'connect it as "stage.port", so that the stage is built first' };
    if (isIn(inner, 'cache')) return { what: `is in the cache: ${path}`, help: "what stands there is no one's to read" };
    const held = ['artifacts', 'cache'].find(folder => isIn(folder, inner));
    return held === undefined ? undefined : holding(held, path);
  };

  return path => {
    const absolute = resolve(projectFolder, path);
    const asWritten = judge(relative(projectFolder, absolute).split(sep).join('/'), path);
    if (asWritten !== undefined) return asWritten;
    const real = realPathOf(absolute);
    const shown = real === absolute ? path : `${path} leads to ${real}`;
    for (const folder of folders) {
      if (isIn(folder.real, real)) return holding(folder.name, shown);
      if (!isIn(real, folder.real)) continue;
      const found = judge(join(folder.name, relative(folder.real, real)).split(sep).join('/'), shown);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

/** What a cache consists of that no checkout has to itself. */
const CONTENT = ['cas', 'actions', 'turns'];

function holding(folder: string, path: string): Written {
  return { what: `holds ${folder}/, which every build writes to: ${path}`, help: 'name the folders in it that are meant' };
}

/** The path itself, and every folder that it lies in. */
function foldersAbove(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

function isIn(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}
