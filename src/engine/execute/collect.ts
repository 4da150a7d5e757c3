/** Collection of a run's outputs: checks against the stage's declaration, and digests. */
import { copyFileSync, realpathSync, rmSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { ARTIFACT_KINDS } from '../../stage/ports.js';
import type { Artifact } from '../model/artifact.js';
import { EngineError } from '../model/engine-error.js';
import type { PlannedStage } from '../model/plan.js';
import { digestPath } from '../store/files/digest-file.js';
import type { FileStat } from '../store/files/stamp.js';
import { statLink, statPath } from '../store/files/stamp.js';
import type { TreeEntry } from '../store/files/tree.js';
import { isInnerLink, treeArtifact, walkFolder } from '../store/files/tree.js';
import { findEscape } from '../store/files/tree-links.js';

/** An output in the run folder. */
export interface CollectedOutput {
  readonly path: string;
  readonly artifact: Artifact;
  /** For a folder: its entries. */
  readonly tree: readonly TreeEntry[] | undefined;
}

/**
 * Digests every declared output that the run wrote.
 * @param paths absolute paths by port.
 * @throws EngineError `output-missing`, `output-form`, `output-escapes`, `special-file`.
 */
export async function collectOutputs(
  stage: Pick<PlannedStage, 'id' | 'outputPorts'>,
  paths: Readonly<Record<string, string>>,
  runFolder: string,
): Promise<Readonly<Record<string, CollectedOutput>>> {
  const collected: Record<string, CollectedOutput> = {};
  const missing: string[] = [];
  for (const [port, { kind, optional }] of Object.entries(stage.outputPorts)) {
    const path = paths[port] ?? '';
    const stat = statOutput(port, path, runFolder);
    if (stat === undefined) {
      if (!optional) missing.push(port);
      continue;
    }
    checkForm(port, ARTIFACT_KINDS[kind].form, stat);
    collected[port] = stat.kind === 'file' ? await collectFile(path, stat) : await collectFolder(port, path);
  }
  if (missing.length === 0) return collected;
  throw new EngineError('output-missing', `the stage ended without writing ${missing.map(port => `output "${port}"`).join(', ')}`, {
    details: { missing },
    help: 'every declared output must be written; the log says what the run did',
  });
}

/** Replaces an output that is a link by a copy of its target, if the target is in the run folder. */
function statOutput(port: string, path: string, runFolder: string): FileStat | undefined {
  const stat = statLink(path);
  if (stat?.kind !== 'symlink') return stat;
  const target = statPath(path);
  if (target === undefined) throw new EngineError('output-escapes', `output "${port}" is a dangling link`);
  const inner = relative(realpathSync(runFolder), realpathSync(path));
  if (target.kind !== 'file' || inner.startsWith(`..${sep}`) || inner.startsWith(sep)) {
    throw new EngineError('output-escapes', `output "${port}" is a link to a place outside the run`, { help: 'write the content itself' });
  }
  const real = realpathSync(path);
  rmSync(path);
  copyFileSync(real, path);
  return statPath(path);
}

function checkForm(port: string, form: 'file' | 'folder' | 'either', stat: FileStat): void {
  if (stat.kind !== 'file' && stat.kind !== 'folder') {
    throw new EngineError('special-file', `output "${port}" is neither a file nor a folder`);
  }
  if (form === 'either' || form === stat.kind) return;
  throw new EngineError('output-form', `output "${port}" is a ${stat.kind}; its kind is a ${form}`);
}

async function collectFile(path: string, stat: FileStat): Promise<CollectedOutput> {
  const digest = await digestPath(path, stat.sizeBytes);
  return { path, artifact: { kind: 'file', digest, sizeBytes: stat.sizeBytes, executable: stat.executable }, tree: undefined };
}

async function collectFolder(port: string, path: string): Promise<CollectedOutput> {
  const tree: TreeEntry[] = [];
  for (const entry of walkFolder(path, 'keep')) {
    if (entry.kind === 'symlink' && !isInnerLink(entry.path, entry.target)) {
      throw new EngineError('output-escapes', `output "${port}" holds a link to a place outside it: ${entry.path} → ${entry.target}`);
    }
    if (entry.kind !== 'file') {
      tree.push(entry);
      continue;
    }
    const { sizeBytes: size, executable } = entry.stat;
    tree.push({ kind: 'file', path: entry.path, digest: await digestPath(join(path, entry.path), size), sizeBytes: size, executable });
  }
  const leaving = findEscape(tree);
  if (leaving !== undefined) throw new EngineError('output-escapes', `output "${port}" holds a link to a place outside it: ${leaving}`);
  return { path, artifact: treeArtifact(tree), tree };
}
