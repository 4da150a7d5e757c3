/** Declarations of a stage's plugin that depend on its params: the programs that it starts, and the device that it measures on. */
import type { Digest } from '../../base/digest.js';
import { digestJson } from '../../base/digest.js';
import type { JsonObject } from '../../base/json.js';
import type { StagePlugin } from '../../stage/define-stage.js';
import type { PlannedStage } from '../model/plan.js';
import type { KnownDevice } from '../store/state-log.js';

/** Returns the known device that the stage measures on; undefined if the stage declares none, or if no run has identified it yet. */
export function findDevice(stage: PlannedStage, devices: ReadonlyMap<Digest, KnownDevice>): KnownDevice | undefined {
  const description = describeDevice(stage);
  return description === undefined ? undefined : devices.get(description);
}

/** Returns the digest of the plugin's description of the device; undefined if the stage declares none. */
export function describeDevice(stage: PlannedStage): Digest | undefined {
  // The cast is safe for the same reason as in `toolsOf`.
  const plugin = stage.plugin.plugin as unknown as StagePlugin<JsonObject>;
  const description = plugin.device?.(stage.params);
  return description === undefined ? undefined : digestJson(description);
}

/** Returns the programs that the stage starts, by the names that it uses. */
export function toolsOf(stage: PlannedStage): readonly string[] {
  // The cast is safe: the params were checked against the plugin's schema when the plan was made.
  const plugin = stage.plugin.plugin as unknown as StagePlugin<JsonObject>;
  return plugin.tools?.(stage.params) ?? [];
}
