/** The `exports` and `imports` of a package.json: which file or name a key stands for. */
import { join } from 'node:path';
import { isJsonObject, type Json } from '../../../base/json.js';

/** A path, another specifier to resolve, 'none' for an explicit exclusion, or undefined for no match. */
export type Target = { readonly path: string } | { readonly name: string } | 'none' | undefined;

/** Returns the entry of `exports` for the path inside the package: "." or "./inner/file". */
export function resolveExports(exports: Json, inner: string, folder: string, conditions: ReadonlySet<string>): Target {
  const isOne = !isJsonObject(exports) || !Object.keys(exports).some(key => key.startsWith('.'));
  if (isOne) return inner === '.' ? resolveTarget(exports, folder, '', conditions, 'paths') : undefined;
  return resolveKeys(exports, inner, folder, conditions, 'paths');
}

/** Returns the entry for `key`: the exact one, or else that of the pattern with the longest prefix. */
export function resolveKeys(
  entries: Json | undefined,
  key: string,
  folder: string,
  conditions: ReadonlySet<string>,
  to: 'paths' | 'names',
): Target {
  if (!isJsonObject(entries)) return undefined;
  const own = entries[key];
  if (own !== undefined && !key.includes('*')) return resolveTarget(own, folder, '', conditions, to);
  const patterns = Object.keys(entries).flatMap(pattern => {
    const [start = '', end, more] = pattern.split('*');
    if (end === undefined || more !== undefined || !key.startsWith(start) || !key.endsWith(end) || key.length < pattern.length) return [];
    return [{ pattern, start, star: key.slice(start.length, key.length - end.length) }];
  });
  const [best] = patterns.sort((a, b) => b.start.length - a.start.length || b.pattern.length - a.pattern.length);
  return best === undefined ? undefined : resolveTarget(entries[best.pattern] ?? null, folder, best.star, conditions, to);
}

function resolveTarget(target: Json, folder: string, star: string, conditions: ReadonlySet<string>, to: 'paths' | 'names'): Target {
  if (target === null) return 'none';
  if (typeof target === 'string') {
    const named = target.replaceAll('*', star);
    if (named.startsWith('./')) return { path: join(folder, named) };
    return to === 'names' && !named.startsWith('/') && !named.startsWith('../') ? { name: named } : undefined;
  }
  if (Array.isArray(target)) {
    const all = target.map(one => resolveTarget(one, folder, star, conditions, to));
    return all.find(one => one !== undefined && one !== 'none') ?? all.at(-1);
  }
  if (!isJsonObject(target)) return undefined;
  for (const [condition, inner] of Object.entries(target)) {
    if (condition !== 'default' && !conditions.has(condition)) continue;
    const resolved = resolveTarget(inner, folder, star, conditions, to);
    if (resolved !== undefined) return resolved;
  }
  return undefined;
}
