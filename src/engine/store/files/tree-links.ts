/** Do the links of a folder stay in it, also one by way of another? A check of each target's text does not tell: `a/b → ..` and `c → a/b/..` lead out together. */

interface Entry {
  readonly kind: 'file' | 'folder' | 'symlink';
  readonly path: string;
}

interface Link extends Entry {
  readonly kind: 'symlink';
  readonly target: string;
}

/** As many as the kernel follows. */
const MAX_HOPS = 40;

/** The path of the first entry that lies behind a link, or of a link that leads out of the folder; undefined where there is none. */
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

/** Follows a path as the kernel does. One that goes round leads nowhere, so not out. */
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
