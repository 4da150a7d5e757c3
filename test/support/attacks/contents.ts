/** What is under a folder of artifacts. */
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Path → content of files, target of links. A stage's folder may be a link: it holds what is found through it. */
export function contentsOf(folder: string, prefix = ''): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const path = join(folder, name);
    const entry = lstatSync(path);
    if (entry.isSymbolicLink() && prefix !== '') found.set(`${prefix}${name}`, `→ ${readlinkSync(path)}`);
    else if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
      for (const [below, content] of contentsOf(path, `${prefix}${name}/`)) found.set(below, content);
    else found.set(`${prefix}${name}`, entry.isFile() ? readFileSync(path, 'utf8') : 'no file');
  }
  return found;
}
