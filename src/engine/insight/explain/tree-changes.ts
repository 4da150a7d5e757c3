/** The differences between two states of a folder. */
import type { TreeEntry } from '../../store/files/tree.js';

/** Paths in the folder, sorted. A file whose name alone changed is listed under `renamed` only. */
export interface TreeChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  readonly renamed: readonly { readonly from: string; readonly to: string }[];
}

export function compareTrees(before: readonly TreeEntry[], after: readonly TreeEntry[]): TreeChanges {
  const old = new Map(before.map(entry => [entry.path, entry]));
  const now = new Map(after.map(entry => [entry.path, entry]));
  const changed = after.filter(entry => old.has(entry.path) && contentOf(old.get(entry.path)) !== contentOf(entry)).map(({ path }) => path);
  const removed = before.filter(({ path }) => !now.has(path));
  const added = after.filter(({ path }) => !old.has(path));
  const renamed = pairByContent(removed, added);
  const from = new Set(renamed.map(pair => pair.from));
  const to = new Set(renamed.map(pair => pair.to));
  return {
    added: added.map(({ path }) => path).filter(path => !to.has(path)),
    removed: removed.map(({ path }) => path).filter(path => !from.has(path)),
    changed,
    renamed,
  };
}

/** Files of which exactly one was removed and exactly one was added with the same content. */
function pairByContent(removed: readonly TreeEntry[], added: readonly TreeEntry[]): TreeChanges['renamed'] {
  const byContent = group(added);
  const removedByContent = group(removed);
  return removed.flatMap(entry => {
    const candidates = byContent.get(contentOf(entry)) ?? [];
    const [only] = candidates;
    const isPair =
      entry.kind === 'file' && only !== undefined && candidates.length === 1 && removedByContent.get(contentOf(entry))?.length === 1;
    return isPair ? [{ from: entry.path, to: only.path }] : [];
  });
}

function group(entries: readonly TreeEntry[]): Map<string, TreeEntry[]> {
  const groups = new Map<string, TreeEntry[]>();
  for (const entry of entries) {
    const key = contentOf(entry);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [entry]);
    else known.push(entry);
  }
  return groups;
}

function contentOf(entry: TreeEntry | undefined): string {
  if (entry === undefined) return '';
  if (entry.kind === 'file') return `${entry.digest}${entry.executable ? '+x' : ''}`;
  return entry.kind === 'symlink' ? `>${entry.target}` : '/';
}

const MOST_NAMES = 5;

/** "2 files added (a.jpg, b.jpg), 1 changed (list.txt)". Long lists are shortened. */
export function describeTreeChanges({ added, removed, changed, renamed }: TreeChanges): string {
  const lists: readonly (readonly [string, readonly string[]])[] = [
    ['added', added],
    ['removed', removed],
    ['changed', changed],
    ['renamed', renamed.map(({ from, to }) => `${from} → ${to}`)],
  ];
  return lists
    .filter(([, names]) => names.length > 0)
    .map(([word, names]) => {
      const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
      return `${names.length} ${word} (${names.slice(0, MOST_NAMES).join(', ')}${more})`;
    })
    .join(', ');
}
