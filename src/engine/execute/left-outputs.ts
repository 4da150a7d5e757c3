/** Outputs of a remote run that stay on the server: what is known of them here. */
import { join } from 'node:path';
import type { Digest } from '../../base/digest.js';
import { ARTIFACT_KINDS } from '../../stage/ports.js';
import { EngineError } from '../model/engine-error.js';
import type { PlannedStage } from '../model/plan.js';
import { encodeTree, treeArtifact } from '../store/files/tree.js';
import type { RemoteContent } from '../store/remote/remote-content.js';
import type { CollectedOutput } from './collect.js';
import type { ListedOutputs } from './remote/list-outputs.js';

/**
 * The outputs of a stage by port, as if they had been collected here.
 * @param paths declared paths by port, relative to the run folder.
 * @throws EngineError `output-missing`, `output-form`.
 */
export function collectLeft(
  { outputPorts }: Pick<PlannedStage, 'outputPorts'>,
  paths: Readonly<Record<string, string>>,
  { files, trees }: ListedOutputs,
  folder: string,
): Readonly<Record<string, CollectedOutput>> {
  const collected: Record<string, CollectedOutput> = {};
  const missing: string[] = [];
  for (const [port, { kind, optional }] of Object.entries(outputPorts)) {
    const path = paths[port] ?? '';
    const file = files.find(one => one.path === path);
    const tree = trees.find(one => one.path === path);
    if (file === undefined && tree === undefined) {
      if (!optional) missing.push(port);
      continue;
    }
    const { form } = ARTIFACT_KINDS[kind];
    const found = file === undefined ? 'folder' : 'file';
    if (form !== 'either' && form !== found) throw new EngineError('output-form', `output "${port}" is a ${found}; its kind is a ${form}`);
    const at = join(folder, path);
    if (file !== undefined) {
      const { blob, executable } = file;
      collected[port] = { path: at, artifact: { kind: 'file', digest: blob.hash, sizeBytes: blob.sizeBytes, executable }, tree: undefined };
    } else if (tree !== undefined) collected[port] = { path: at, artifact: treeArtifact(tree.entries), tree: tree.entries };
  }
  if (missing.length === 0) return collected;
  throw new EngineError('output-missing', `the stage ended without writing ${missing.map(port => `output "${port}"`).join(', ')}`, {
    details: { missing },
    help: 'every declared output must be written; the log says what the run did',
  });
}

/** Everything that these outputs name. */
export function contentOfLeft(outputs: Readonly<Record<string, CollectedOutput>>): RemoteContent {
  const blobs = new Map<Digest, number>();
  const documents = new Map<Digest, string>();
  for (const { artifact, tree } of Object.values(outputs)) {
    if (tree === undefined) blobs.set(artifact.digest, artifact.sizeBytes);
    else documents.set(artifact.digest, encodeTree(tree));
    for (const entry of tree ?? []) if (entry.kind === 'file') blobs.set(entry.digest, entry.sizeBytes);
  }
  return { blobs, documents };
}
