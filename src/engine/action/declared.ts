/** What a stage's plugin declares by its params: the programs that it starts, and the device that it measures on. */
import type { Digest } from '../../base/digest.js';
import { digestJson } from '../../base/digest.js';
import type { JsonObject } from '../../base/json.js';
import type { StagePlugin } from '../../stage/define-stage.js';
import type { PlannedStage } from '../model/plan.js';
import type { KnownDevice } from '../store/state-log.js';

/** What is known of the device that the stage measures on; undefined where it has none, or where it was never started. */
export function findDevice(stage: PlannedStage, devices: ReadonlyMap<Digest, KnownDevice>): KnownDevice | undefined {
  const description = describeDevice(stage);
  return description === undefined ? undefined : devices.get(description);
}

/** The digest of the plugin's description of the device; undefined where the stage has none. */
export function describeDevice(stage: PlannedStage): Digest | undefined {
  // As for `toolsOf`.
  const plugin = stage.plugin.plugin as unknown as StagePlugin<JsonObject>;
  const description = plugin.device?.(stage.params);
  return description === undefined ? undefined : digestJson(description);
}

/** The programs that the stage starts, as it names them. */
export function toolsOf(stage: PlannedStage): readonly string[] {
  // A plugin takes params of its own type: these were checked against its schema when the plan was made.
  const plugin = stage.plugin.plugin as unknown as StagePlugin<JsonObject>;
  return plugin.tools?.(stage.params) ?? [];
}
