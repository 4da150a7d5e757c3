/** Where does one run work? In a new folder with links to its inputs, an empty place for its outputs, and scratch. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Digest } from '../../base/digest.js';
import type { ActionDocument } from '../worker/action-document.js';
import { RUN_LAYOUT } from '../worker/action-document.js';

/** One input as the run sees it. */
export interface RunInput {
  readonly port: string;
  readonly entry: string | undefined;
  /** Absolute path of the source or artifact. */
  readonly path: string;
  readonly kind: 'file' | 'tree';
  /** Where stamps prove what the file holds. */
  readonly known: { readonly stamp: string; readonly digest: Digest } | undefined;
}

export type RunPaths = Pick<ActionDocument, 'inputs' | 'known'>;

/** Makes the folder and links the inputs under names of their ports, with the extensions they have. */
export function makeRunFolder(folder: string, inputs: readonly RunInput[]): RunPaths {
  for (const name of [RUN_LAYOUT.inputs, RUN_LAYOUT.outputs, RUN_LAYOUT.scratch])
    mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
  const paths: Record<string, string | Record<string, string>> = {};
  const known: Record<string, { stamp: string; digest: Digest }> = {};
  for (const input of inputs) {
    const extension = input.kind === 'file' ? extname(input.path) : '';
    const name = input.entry === undefined ? input.port : `${input.port}/${input.entry}`;
    const link = `${RUN_LAYOUT.inputs}/${name}${extension}`;
    if (input.entry !== undefined) mkdirSync(join(folder, RUN_LAYOUT.inputs, input.port), { recursive: true });
    symlinkSync(input.path, join(folder, link), input.kind === 'file' ? 'file' : 'junction');
    if (input.known !== undefined) known[link] = input.known;
    if (input.entry === undefined) {
      paths[input.port] = link;
      continue;
    }
    const record = paths[input.port];
    paths[input.port] = { ...(typeof record === 'object' ? record : {}), [input.entry]: link };
  }
  return { inputs: paths, known };
}

export function writeActionDocument(folder: string, action: ActionDocument): void {
  writeFileSync(join(folder, RUN_LAYOUT.action), JSON.stringify(action), { mode: 0o600 });
}

/** Removes a run folder. What cannot be removed now goes when the next build starts. */
export async function removeRunFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 2 }).catch(() => undefined);
}

/** Removes what builds that were killed have left. Only under the lock. */
export function removeLeftovers(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}
