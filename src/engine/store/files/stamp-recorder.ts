/** The recorder of stamps: everything that a decision reads goes through it, and is stamped before it is read. */
import { realpathSync } from 'node:fs';
import { isAbsolute, join, parse, sep } from 'node:path';
import { type FolderNames, NO_STAMPS, type RecordedStamps, readNames, stampTree, type TreeStamps } from './recorded-stamps.js';
import { type FileStat, findTarget, isRacy, statLink, statPath } from './stamp.js';

export interface RecordedReads {
  readonly stamps: RecordedStamps;
  /** 'racy': a later change may leave the stamps unchanged. */
  readonly proof: 'settled' | 'racy';
}

export interface StampRecorder {
  /** Metadata of `path` with links followed; undefined if nothing is there, which is recorded too. */
  stat(path: string): FileStat | undefined;
  /** The path of an existing file without links. It is recorded, with every link on the way. */
  realPath(path: string): string;
  /** The sorted names of the entries of a folder. */
  names(path: string): readonly string[];
  /** Records everything in a folder. */
  tree(path: string): void;
  /** Whether `path` was recorded. */
  has(path: string): boolean;
  recorded(): RecordedReads;
}

/**
 * The metadata of each path is read once. A file that changed after the recorder was created counts as racy, so that a path may also be recorded
 * after it was read.
 */
export function createStampRecorder(): StampRecorder {
  const takenMs = Date.now();
  const followed = new Map<string, FileStat | undefined>();
  const links = new Map<string, FileStat>();
  const places = new Map<string, string>();
  const trees = new Map<string, TreeStamps>();
  const names = new Map<string, FolderNames>();
  return {
    stat(path) {
      if (!followed.has(path)) followed.set(path, statPath(path));
      return followed.get(path);
    },
    realPath(path) {
      const real = realpathSync.native(path);
      if (!places.has(path)) places.set(path, real);
      if (real !== path) for (const [link, stat] of findLinks(path)) if (!links.has(link)) links.set(link, stat);
      return real;
    },
    names(path) {
      const seen = names.get(path) ?? readNames(path, '');
      names.set(path, seen);
      return seen.names;
    },
    tree(path) {
      if (!trees.has(path)) trees.set(path, stampTree(path, 'follow', ''));
    },
    has: path => followed.has(path),
    recorded() {
      // Folders are left out: each relevant entry is recorded itself, and other entries that are added change nothing.
      const files = [...followed].filter(([, stat]) => stat?.kind !== 'folder');
      const stats = [...files.map(([, stat]) => stat), ...links.values()];
      return {
        stamps: {
          ...NO_STAMPS,
          itself: [...links].flatMap(([link, stat]) => [link, stat.stamp]),
          followed: files.flatMap(([path, stat]) => [path, stat?.stamp ?? '']),
          places: [...places].flat(),
          trees: [...trees.values()],
          names: [...names.values()],
        },
        proof: stats.every(stat => stat === undefined || !isRacy(stat, takenMs)) ? 'settled' : 'racy',
      };
    },
  };
}

/** The number of links that Linux follows. */
const MOST_LINKS = 40;

/** The symbolic links that the system follows from `path` to its target: of the path itself, of the folders above it, and of their targets. */
function findLinks(path: string): ReadonlyMap<string, FileStat> {
  const links = new Map<string, FileStat>();
  const { root } = parse(path);
  let at = root;
  let left = namesOf(path);
  let hops = 0;
  for (let name = left.shift(); name !== undefined && hops <= MOST_LINKS; name = left.shift()) {
    const next = join(at, name);
    const stat = statLink(next);
    const target = stat?.kind === 'symlink' ? findTarget(next) : undefined;
    if (stat === undefined || target === undefined) {
      at = next;
      continue;
    }
    hops += 1;
    links.set(next, stat);
    left = [...namesOf(target), ...left];
    if (isAbsolute(target)) at = parse(target).root;
  }
  return links;
}

function namesOf(path: string): string[] {
  return path
    .slice(parse(path).root.length)
    .split(sep)
    .filter(name => name !== '');
}
