/** Reading of a plugin's or part's code, with stamps of everything that its digest depends on. */
import { readFileSync } from 'node:fs';
import { digestJson } from '../../../base/digest.js';
import { createStampRecorder, type StampRecorder } from '../../store/files/stamp-recorder.js';
import { closureOf, describeCode } from './describe-code.js';
import { createModuleGraph, type Module } from './module-graph.js';
import type { CodeRoot, PinnedCode } from './pinned-code.js';
import type { ModuleFiles } from './resolve-module.js';

/** @throws EngineError `plugin-module`. */
export async function readCode(root: CodeRoot, installRoot: string): Promise<PinnedCode> {
  const recorder = createStampRecorder();
  const graph = await createModuleGraph(recordedFiles(recorder));
  for (const path of graph.resolveReads(root.pluginPath, root.reads)) if (recorder.stat(path)?.kind === 'folder') recorder.tree(path);
  const modules = closureOf(graph, root);
  const digest = digestJson(describeCode(graph, root, installRoot));
  const { stamps, proof } = recorder.recorded();
  return {
    root,
    digest,
    stamps,
    proof,
    modules: {
      paths: modules.map(({ path }) => path),
      packages: [...new Set(modules.flatMap(({ packageFolders }) => packageFolders))],
      imports: findComputedImport(modules) === undefined ? 'named' : 'computed',
    },
  };
}

/** The first module that may import files that no literal in it names. */
export function findComputedImport(modules: readonly Module[]): Module | undefined {
  return modules.find(({ loads }) => loads !== 'named');
}

/** File access that stamps each path before it is read. */
export function recordedFiles(recorder: StampRecorder): ModuleFiles {
  return {
    kindOf(path) {
      const kind = recorder.stat(path)?.kind;
      return kind === 'file' || kind === 'folder' ? kind : undefined;
    },
    read(path) {
      recorder.stat(path);
      return readFileSync(path);
    },
    realPath: recorder.realPath,
  };
}
