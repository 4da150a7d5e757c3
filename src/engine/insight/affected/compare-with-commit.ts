/** The contents of a project at a commit and now, for the comparison of two plans. */
import { resolve } from 'node:path';
import type { PluginEntry } from '../../model/plugin-entry.js';
import type { Contents } from './affected-stages.js';
import { createCodeIdentities } from './code-identities.js';
import type { GitContents, Identities } from './git-contents.js';

export interface ComparedContents extends Contents {
  /** Sources and programs that git does not know, as the pipeline file names them: taken to be unchanged. */
  assumed(): readonly string[];
}

export async function compareContents(
  projectFolder: string,
  installRoot: string,
  commit: string,
  contents: GitContents,
): Promise<ComparedContents> {
  const code = await createCodeIdentities({ projectFolder, commit, contents, installRoot });
  const assumed = new Set<string>();
  const known = new Map<string, Identities>();
  const source = (path: string): Identities => {
    const found = known.get(path) ?? contents.identify(resolve(projectFolder, path));
    known.set(path, found);
    if (contents.knows(resolve(projectFolder, path)) === 'unknown') assumed.add(path);
    return found;
  };
  return {
    source,
    code: (entry: PluginEntry) => code(entry),
    // A name without a slash is looked up on the PATH of this machine.
    tool: name => (name.includes('/') ? source(name) : { before: name, now: name }),
    assumed: () => [...assumed].sort(),
  };
}
