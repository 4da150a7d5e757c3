/** The places that a build writes to: artifacts of its stages, and caches. A source inside one of them would be read before or after it is written. */
import { join, relative, resolve, sep } from 'node:path';
import { realPathOf } from '../../base/files/real-path.js';

export interface WrittenPlaces {
  readonly projectFolder: string;
  /** The folders of the plan's stages under artifacts/, relative to the project. */
  readonly stageFolders: ReadonlySet<string>;
  /** Absolute paths of caches outside the project. */
  readonly caches: readonly string[];
}

/** The reason why a path is not a valid source. */
export interface Written {
  /** 'holds': a folder that contains a place of the build. 'within': it is in such a place. */
  readonly kind: 'holds' | 'within';
  /** The predicate after the name of the source: "is in the cache: cache/logs". */
  readonly what: string;
  readonly help: string;
}

/**
 * @returns a function that gives the reason why a path (absolute, or relative to the project) is not a valid source.
 * The function checks the path as written and its real path without links.
 */
export function createWrittenCheck({ projectFolder, stageFolders, caches }: WrittenPlaces): (path: string) => Written | undefined {
  const folders = [
    ...['artifacts', 'cache'].map(name => ({ name, real: realPathOf(join(projectFolder, name)) })),
    // Such a folder may contain other things too, so only the cache's own folders count.
    ...caches.flatMap(root => CONTENT.map(name => ({ name: 'cache', real: realPathOf(join(root, name)) }))),
  ];

  /** @param inner relative to the project, with slashes. */
  const judge = (inner: string, path: string): Written | undefined => {
    if (foldersAbove(inner).some(folder => stageFolders.has(folder)))
      return {
        kind: 'within',
        what: `is the artifact of a stage: ${path}`,
        help: 'connect it as "stage.port", so that the stage is built first',
      };
    if (isIn(inner, 'cache')) return { kind: 'within', what: `is in the cache: ${path}`, help: 'move the file out of cache/' };
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

/** The folders of a cache that checkouts may share. */
const CONTENT = ['cas', 'actions', 'action-locks'];

function holding(folder: string, path: string): Written {
  return {
    kind: 'holds',
    what: `holds ${folder}/, which every build writes to: ${path}`,
    help: 'name the folders in it that the stage needs',
  };
}

/** Returns the path itself and every folder that contains it. */
function foldersAbove(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

function isIn(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}
