/** Reading of a plugin's or part's code, with stamps of everything that its digest depends on. */
import { readFileSync, realpathSync } from 'node:fs';
import { digestJson } from '../../../base/digest.js';
import { NO_SIGHTS, seeTree, type TreeSight } from '../../store/files/sights.js';
import { type FileLook, isRacy, lookAt, stampOfLink } from '../../store/files/stamp.js';
import { closureOf, describeCode } from './describe-code.js';
import { createModuleGraph } from './module-graph.js';
import type { CodeRoot, PinnedCode } from './pinned-code.js';
import type { ModuleFiles } from './resolve-module.js';

/** @throws EngineError `plugin-module`. */
export async function readCode(root: CodeRoot, installRoot: string): Promise<PinnedCode> {
  const takenMs = Date.now();
  const looks = createLooks();
  const graph = await createModuleGraph(looks.files);
  const trees = graph
    .resolveReads(root.pluginPath, root.reads)
    .flatMap((path): TreeSight[] => (looks.files.kindOf(path) === 'folder' ? [seeTree(path, 'follow', '')] : []));
  const modules = closureOf(graph, root);
  return {
    root,
    digest: digestJson(describeCode(graph, root, installRoot)),
    sights: { ...NO_SIGHTS, ...looks.sights(), trees },
    proof: looks.all().every(look => look === undefined || !isRacy(look, takenMs)) ? 'settled' : 'racy',
    modules: {
      paths: modules.map(({ path }) => path),
      packages: [...new Set(modules.flatMap(({ packageFolders }) => packageFolders))],
      imports: modules.some(({ loads }) => loads !== 'named') ? 'computed' : 'named',
    },
  };
}

/** File access that records the stamp of each path before it is read. */
function createLooks() {
  const seen = new Map<string, FileLook | undefined>();
  const links = new Map<string, string>();
  const look = (path: string): FileLook | undefined => {
    if (!seen.has(path)) seen.set(path, lookAt(path));
    return seen.get(path);
  };
  const files: ModuleFiles = {
    kindOf(path) {
      const kind = look(path)?.kind;
      return kind === 'file' || kind === 'folder' ? kind : undefined;
    },
    read(path) {
      look(path);
      return readFileSync(path);
    },
    realPath(path) {
      const stamp = stampOfLink(path);
      const real = realpathSync.native(path);
      if (real !== path) links.set(path, stamp);
      return real;
    },
  };
  return {
    files,
    all: () => [...seen.values()].filter(one => one !== undefined && one.kind !== 'folder'),
    // Folders are left out: each relevant entry is recorded itself, and other entries that are added do not change the code.
    sights: () => ({
      followed: [...seen].flatMap(([path, one]) => (one?.kind === 'folder' ? [] : [path, one?.stamp ?? ''])),
      itself: [...links].flat(),
    }),
  };
}
