/** The code of a plugin at a commit and now: the files that it reaches, and the versions of installed packages. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { encodeCanonicalJson } from '../../../base/json/canonical-json.js';
import { isJsonObject, parseJson } from '../../../base/json.js';
import { closureOf, fieldsOf, isInside } from '../../action/code/describe-code.js';
import { createModuleGraph, type ModuleGraph } from '../../action/code/module-graph.js';
import { codeOf } from '../../action/code/pinned-code.js';
import { isInstalled } from '../../action/code/resolve-module.js';
import { EngineError } from '../../model/engine-error.js';
import type { PluginEntry } from '../../model/plugin-entry.js';
import { showFile } from '../history/git-show.js';
import type { GitContents, Identities } from './git-contents.js';
import { readPackageVersions } from './package-versions.js';

export interface CodeContext {
  readonly projectFolder: string;
  readonly commit: string;
  readonly contents: GitContents;
  readonly installRoot: string;
}

/** Each plugin's code is read once. The closure is that of now: a file that only the commit's code reached was dropped by a change of another. */
export async function createCodeIdentities(context: CodeContext): Promise<(entry: PluginEntry) => Identities> {
  const graph = await createModuleGraph();
  const versions = readPackageVersions(context.projectFolder, context.commit, context.contents);
  const known = new Map<string, Identities>();
  return entry => {
    const found = known.get(entry.modulePath) ?? identify(context, graph, versions, entry);
    known.set(entry.modulePath, found);
    return found;
  };
}

function identify(
  context: CodeContext,
  graph: ModuleGraph,
  versions: (names: Iterable<string>) => Identities,
  entry: PluginEntry,
): Identities {
  const { contents, installRoot } = context;
  const packageRoot = dirname(installRoot);
  const isOwnCheckout = contents.knows(join(packageRoot, 'package.json')) === 'known' && !isInstalled(installRoot);
  // An installed Tanren has the code of its version and of its dependencies' versions.
  if (isInside(installRoot, entry.modulePath) && !isOwnCheckout) return versions(['tanren', ...dependenciesOf(packageRoot)]);
  try {
    const modules = closureOf(graph, codeOf(entry));
    const names = modules.flatMap(module => module.packages).map(name => name.slice(0, name.lastIndexOf('@')));
    const scopes = new Set(modules.flatMap(({ path }) => (isInstalled(path) ? [] : (graph.findScope(path)?.path ?? []))));
    const parts = [
      versions(names),
      ...modules.map(({ path }) => contents.identify(sourceOf(path, installRoot))),
      ...[...scopes].map(path => identifyScope(context, path)),
    ];
    return { before: joinParts(parts.map(part => part.before)), now: joinParts(parts.map(part => part.now)) };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    // The build reports what is wrong with the code.
    return { before: undefined, now: `unreadable: ${error.message}` };
  }
}

/** The TypeScript file of a compiled module in a checkout of Tanren. */
function sourceOf(path: string, installRoot: string): string {
  if (!isInside(installRoot, path)) return path;
  const source = join(dirname(installRoot), relative(installRoot, path).replace(/\.js$/, '.ts'));
  return existsSync(source) ? source : path;
}

/** Of a package.json, only what determines how modules are read is code. */
function identifyScope({ projectFolder, commit, contents }: CodeContext, path: string): Identities {
  const { before, now } = contents.identify(path);
  if (before === now) return { before, now };
  const read = (text: string | undefined): string => {
    const manifest = text === undefined ? undefined : parseJson(text);
    return isJsonObject(manifest) ? encodeCanonicalJson(fieldsOf(manifest)) : '';
  };
  return { before: read(showFile(projectFolder, commit, path)?.toString()), now: read(readFileSync(path, 'utf8')) };
}

function dependenciesOf(packageRoot: string): readonly string[] {
  const manifest = parseJson(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  return isJsonObject(manifest) && isJsonObject(manifest.dependencies) ? Object.keys(manifest.dependencies) : [];
}

function joinParts(parts: readonly (string | undefined)[]): string {
  return parts.map(part => part ?? 'absent').join('\n');
}
