/**
 * Checks that the symbolic links of a folder stay inside it, also in combination.
 * Checking each target alone is not enough: `a/b → ..` and `c → a/b/..` leave the folder together.
 */

interface Entry {
  readonly kind: 'file' | 'folder' | 'symlink';
  readonly path: string;
}

interface Link extends Entry {
  readonly kind: 'symlink';
  readonly target: string;
}

/** The number of links that the kernel follows. */
const MAX_HOPS = 40;

/** The path of the first entry behind a link, or of the first link that leaves the folder; undefined if there is none. */
export function findEscape(entries: readonly (Entry | Link)[]): string | undefined {
  const links = new Map(entries.flatMap(entry => ('target' in entry ? [[entry.path, entry.target] as const] : [])));
  if (links.size === 0) return undefined;
  for (const entry of entries) {
    if (isBehindLink(entry.path, links)) return entry.path;
    if ('target' in entry && !staysInside(entry.path, links)) return entry.path;
  }
  return undefined;
}

function isBehindLink(path: string, links: ReadonlyMap<string, string>): boolean {
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) if (links.has(path.slice(0, at))) return true;
  return false;
}

/** Resolves a path like the kernel does. A cycle of links leads nowhere, so it does not leave the folder. */
function staysInside(path: string, links: ReadonlyMap<string, string>): boolean {
  const left = path.split('/').reverse();
  const stack: string[] = [];
  let hops = 0;
  for (let part = left.pop(); part !== undefined; part = left.pop()) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (stack.pop() === undefined) return false;
      continue;
    }
    stack.push(part);
    const target = links.get(stack.join('/'));
    if (target === undefined) continue;
    if (++hops > MAX_HOPS) return true;
    if (target.startsWith('/')) return false;
    stack.pop();
    left.push(...target.split('/').reverse());
  }
  return true;
}
