/** Finds the modules and packages of a plugin's code that changed, from the documents that its code digests cover. */
import type { Json, JsonObject } from '../../../base/json.js';
import { isJsonObject } from '../../../base/json.js';

export interface CodeChanges {
  /** Paths of modules, relative to the installation or, for a local plugin, to its folder. */
  readonly modules: readonly string[];
  /** "sharp@0.35.0 → sharp@0.35.1". */
  readonly packages: readonly string[];
}

/** @returns undefined if a document does not have the expected form. */
export function compareCode(before: Json | undefined, after: Json | undefined): CodeChanges | undefined {
  const old = readClosure(before);
  const now = readClosure(after);
  if (old === undefined || now === undefined) return undefined;
  const paths = [...new Set([...old.modules.keys(), ...now.modules.keys()])].sort();
  const removed = [...old.packages].filter(name => !now.packages.has(name));
  const added = [...now.packages].filter(name => !old.packages.has(name));
  return {
    modules: paths.filter(path => old.modules.get(path) !== now.modules.get(path)),
    packages: pairVersions(removed, added),
  };
}

interface Closure {
  readonly modules: ReadonlyMap<string, string>;
  readonly packages: ReadonlySet<string>;
}

function readClosure(document: Json | undefined): Closure | undefined {
  if (!isJsonObject(document) || !isJsonObject(document.module) || !Array.isArray(document.runtime)) return undefined;
  const modules = new Map<string, string>();
  const packages = new Set<string>();
  for (const closure of [document.module, ...document.runtime.filter(isJsonObject)] as readonly JsonObject[]) {
    for (const entry of Array.isArray(closure.modules) ? closure.modules : []) {
      const [path, digest]: readonly Json[] = Array.isArray(entry) ? entry : [];
      if (typeof path === 'string' && typeof digest === 'string') modules.set(path, digest);
    }
    for (const name of Array.isArray(closure.packages) ? closure.packages : []) if (typeof name === 'string') packages.add(name);
  }
  return { modules, packages };
}

function pairVersions(removed: readonly string[], added: readonly string[]): readonly string[] {
  const nameOf = (text: string): string => text.slice(0, text.lastIndexOf('@'));
  const paired = removed.map(old => {
    const next = added.find(one => nameOf(one) === nameOf(old));
    return next === undefined ? `${old} was removed` : `${old} → ${next}`;
  });
  const fresh = added.filter(one => !removed.some(old => nameOf(old) === nameOf(one))).map(one => `${one} was added`);
  return [...paired, ...fresh];
}

const MOST_NAMES = 5;

export function describeCodeChanges({ modules, packages }: CodeChanges): string {
  const names = [...modules, ...packages];
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  return `${names.slice(0, MOST_NAMES).join(', ')}${more}`;
}
