/** The files that a run may access: the stage's declarations as paths for a guard. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PinnedCode } from '../action/code/pinned-code.js';
import type { PinnedStage } from '../action/pinned-stage.js';
import type { Session } from '../action/session.js';
import type { PlannedStage } from '../model/plan.js';
import { isInProcess } from '../model/plugin-entry.js';
import type { GuardedRun } from './guard/guard.js';
import { RUN_LAYOUT } from './worker/action-document.js';

/** Programs that a stage starts directly see its scratch folder and its tools. A worker also sees its inputs, its code, and cached parts. */
export function declaredBy(session: Session, stage: PlannedStage, pinned: PinnedStage, folder: string): GuardedRun {
  const { projectFolder } = session.plan;
  const shared = { projectFolder, ownCopies: [], network: stage.network, pathPrefix: folder } as const;
  const tools = pinned.tools.map(tool => tool.path);
  if (isInProcess(stage.plugin)) return { ...shared, writable: [join(folder, RUN_LAYOUT.scratch)], readable: tools };
  const code = codePlaces(session.ports.installRoot, pinned.code);
  const inputs = pinned.inputs.map(input => input.path);
  const { cache } = session;
  const parts = [cache, ...(cache.shared === undefined ? [] : [cache.shared])].map(({ root }) => join(root, 'cas'));
  return { ...shared, writable: [folder], readable: [...tools, ...code, ...inputs, ...parts] };
}

/** Returns Node itself, Tanren, the modules that the plugin reaches, and the packages that both may import. */
function codePlaces(installRoot: string, { root, modules }: PinnedCode): readonly string[] {
  const shared = [process.execPath, installRoot, ...packagesAbove(installRoot)];
  if (modules === undefined) return shared;
  const above = [...new Set(modules.paths.map(path => dirname(path)))].flatMap(packagesAbove);
  return [...new Set([...shared, root.modulePath, ...modules.paths, ...above])];
}

/** Returns the node_modules and package.json that Node looks up from a folder to the root. */
function packagesAbove(folder: string): readonly string[] {
  const found: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    found.push(...['node_modules', 'package.json'].map(name => join(at, name)).filter(path => existsSync(path)));
    if (at === dirname(at)) return found;
  }
}
