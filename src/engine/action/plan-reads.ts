/** The stamps of everything that a plan is made from: pipeline file, params files, and the modules of third-party plugins. */
import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import { systemCode } from '../../base/system-error.js';
import { EngineError } from '../model/engine-error.js';
import type { PlanObserver } from '../planning/load-pipeline.js';
import type { RecordedStamps } from '../store/files/recorded-stamps.js';
import { createStampRecorder, type StampRecorder } from '../store/files/stamp-recorder.js';
import { findComputedImport, recordedFiles } from './code/read-code.js';
import { isInstalled } from './code/resolve-module.js';
import { isPath, resolvePlugin } from './code/resolve-plugin.js';

export interface PlanReads {
  /** Undefined if they do not prove that the plan is unchanged: a file was saved too recently, or a plugin may load unknown modules. */
  readonly stamps: RecordedStamps | undefined;
  /** Absolute paths, for watching. Missing ones outside the project are left out. */
  readonly paths: readonly string[];
}

export interface PlanReadsRecorder extends PlanObserver {
  /** Call it after all plugins are loaded. */
  recorded(projectFolder: string): PlanReads;
}

export function recordPlanReads(): PlanReadsRecorder {
  const recorder = createStampRecorder();
  const loadedBefore = new Set(listRequired());
  let isComplete = true;
  return {
    file: path => void recorder.stat(path),
    names: recorder.names,
    async plugin(specifier, projectFolder) {
      if (!(await recordPlugin(specifier, projectFolder, recorder))) isComplete = false;
    },
    recorded(projectFolder) {
      for (const path of listRequired()) {
        if (loadedBefore.has(path) || recorder.has(path)) continue;
        // The version of the package that requires an installed module stands for it, but its own stamp costs nothing more.
        if (isInstalled(path)) recorder.stat(path);
        else isComplete = false;
      }
      const { stamps, proof } = recorder.recorded();
      const paths = pathsOf(stamps, projectFolder);
      return { stamps: isComplete && proof === 'settled' ? stamps : undefined, paths };
    },
  };
}

/** @returns whether all modules that the plugin's module loads are recorded. Loading the plugin reports what is wrong with it. */
async function recordPlugin(specifier: string, projectFolder: string, recorder: StampRecorder): Promise<boolean> {
  const { createModuleGraph } = await import('./code/module-graph.js');
  const graph = await createModuleGraph(recordedFiles(recorder));
  try {
    const modulePath = resolvePlugin(specifier, projectFolder);
    recorder.stat(modulePath);
    const modules = graph.closureOf(modulePath);
    for (const { path } of modules) graph.findScope(path);
    return findComputedImport(modules) === undefined && (isPath(specifier) || isFoundAgain());
    function isFoundAgain(): boolean {
      const found = graph.resolve(specifier, join(projectFolder, 'package.json'), 'require');
      const real = realpathSync.native(modulePath);
      if (found.kind === 'module') return found.path === real;
      if (found.kind !== 'installed') return false;
      recorder.stat(join(found.package.folder, 'package.json'));
      return real.startsWith(found.package.folder + sep);
    }
  } catch (error) {
    if (error instanceof EngineError || systemCode(error) !== undefined) return false;
    throw error;
  }
}

/** The CommonJS modules of this process, which a computed `require` may have loaded. */
function listRequired(): readonly string[] {
  return Object.keys(createRequire(import.meta.url).cache);
}

function pathsOf({ followed, itself, trees, names }: RecordedStamps, projectFolder: string): readonly string[] {
  const paths = new Set([...trees, ...names].map(({ path }) => path));
  for (let i = 0; i < followed.length; i += 2) {
    const path = followed[i] ?? '';
    if (followed[i + 1] !== '' || path.startsWith(projectFolder + sep)) paths.add(path);
  }
  for (let i = 0; i < itself.length; i += 2) paths.add(itself[i] ?? '');
  return [...paths].sort();
}
