/** What a stage declares to read: its sources, programs and device, and the further files of its plugin's code. */
import { existsSync, realpathSync } from 'node:fs';
import type { Digest } from '../../base/digest.js';
import { digestJson } from '../../base/digest.js';
import { withCheckedParams } from '../../stage/define-stage.js';
import { refsOf } from '../model/dependencies.js';
import type { PlannedStage } from '../model/plan.js';
import type { KnownDevice } from '../store/state.js';
import { type CodeRoot, locateRead } from './code/pinned-code.js';

/** Returns the known device that the stage measures on; undefined if the stage declares none, or if no run has identified it yet. */
export function findDevice(stage: PlannedStage, devices: ReadonlyMap<Digest, KnownDevice>): KnownDevice | undefined {
  const description = describeDevice(stage);
  return description === undefined ? undefined : devices.get(description);
}

/** Returns the digest of the plugin's description of the device; undefined if the stage declares none. */
export function describeDevice(stage: PlannedStage): Digest | undefined {
  const description = withCheckedParams(stage.plugin.plugin).device?.(stage.params);
  return description === undefined ? undefined : digestJson(description);
}

/** Returns the programs that the stage starts, by the names that it uses. */
export function toolsOf(stage: PlannedStage): readonly string[] {
  return withCheckedParams(stage.plugin.plugin).tools?.(stage.params) ?? [];
}

/** Returns the paths of the stage's sources as in the pipeline file: absolute, or relative to the project folder. */
export function sourcePathsOf(stage: PlannedStage): readonly string[] {
  return Object.values(stage.inputs)
    .flatMap(refsOf)
    .flatMap(ref => (ref.kind === 'source' ? [ref.path] : []));
}

/** Returns the absolute paths of the files and folders that the plugin declares in `reads`. */
export function readsOf({ modulePath, reads }: CodeRoot): readonly string[] {
  return reads.map(read => locateRead(read, realPathIfPresent(modulePath)));
}

function realPathIfPresent(path: string): string {
  return existsSync(path) ? realpathSync.native(path) : path;
}
