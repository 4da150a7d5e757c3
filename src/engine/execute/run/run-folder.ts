/** The folder of one run: links to its inputs, an empty folder for its outputs, and a scratch folder. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import type { Digest } from '../../../base/digest.js';
import type { ActionDocument, LocalDocument } from '../worker/action-document.js';
import { RUN_LAYOUT } from '../worker/action-document.js';

/** One input as the run sees it. */
export interface RunInput {
  readonly port: string;
  readonly entry: string | undefined;
  /** Absolute path of the source or artifact. */
  readonly path: string;
  readonly kind: 'file' | 'tree';
  /** The digest of the file, if stamps prove it. */
  readonly known: { readonly stamp: string; readonly digest: Digest } | undefined;
}

/** A link to an input, relative to the run folder, and the absolute path of its target. */
export interface InputLink {
  readonly link: string;
  readonly to: string;
  readonly kind: 'file' | 'tree';
}

export type RunPaths = Pick<ActionDocument, 'inputs'> & Pick<LocalDocument, 'known'> & { readonly links: readonly InputLink[] };

/** Creates the folder, which must not exist. */
export function makeRunFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of [RUN_LAYOUT.outputs, RUN_LAYOUT.scratch]) mkdirSync(join(folder, name), { mode: 0o700 });
}

/** Names the links to the inputs after their ports, with the extensions of the files. */
export function nameInputs(inputs: readonly RunInput[]): RunPaths {
  const paths = new Map<string, string | Map<string, string>>();
  const known: Record<string, { stamp: string; digest: Digest }> = {};
  const links: InputLink[] = [];
  for (const { port, entry, path, kind, known: knownContent } of inputs) {
    const extension = kind === 'file' ? extname(path) : '';
    const link = `${RUN_LAYOUT.inputs}/${entry === undefined ? port : `${port}/${entry}`}${extension}`;
    if (entry !== undefined) entriesOf(port).set(entry, link);
    else paths.set(port, link);
    links.push({ link, to: path, kind });
    if (knownContent !== undefined) known[link] = knownContent;
  }
  const plain = [...paths].map(([port, at]) => [port, typeof at === 'string' ? at : Object.fromEntries(at)] as const);
  return { inputs: Object.fromEntries(plain), known, links };

  /** Returns the record of a port that has entries. */
  function entriesOf(port: string): Map<string, string> {
    const there = paths.get(port);
    if (there instanceof Map) return there;
    const entries = new Map<string, string>();
    paths.set(port, entries);
    return entries;
  }
}

/** Creates the links that `nameInputs` named. */
export function linkInputs(folder: string, links: readonly InputLink[]): void {
  for (const at of new Set([RUN_LAYOUT.inputs, ...links.map(({ link }) => dirname(link))]))
    mkdirSync(join(folder, at), { recursive: true, mode: 0o700 });
  for (const { link, to, kind } of links) symlinkSync(to, join(folder, link), kind === 'file' ? 'file' : 'junction');
}

export function writeDocuments(folder: string, action: ActionDocument, local: LocalDocument): void {
  writeFileSync(join(folder, RUN_LAYOUT.action), JSON.stringify(action), { mode: 0o600 });
  writeFileSync(join(folder, RUN_LAYOUT.local), JSON.stringify(local), { mode: 0o600 });
}
