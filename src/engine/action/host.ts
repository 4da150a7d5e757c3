/** The identity of what a stage measures on, for its key: this machine, or a board. */
import { isOnBoard, type PlannedStage } from '../model/plan.js';

/** A board is known by the properties that the stage asks for; which one it was is in the log. */
export function hostOf(stage: PlannedStage): string {
  if (!isOnBoard(stage)) return identifyHost();
  const named = Object.entries(stage.properties ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return `worker with ${named.map(([name, value]) => `${name}=${value}`).join(', ')}`;
}

export function identifyHost(): string {
  // The module is loaded only here, because loading it takes longer than a no-op build.
  const { arch, cpus, hostname, platform } = process.getBuiltinModule('node:os');
  return [hostname(), platform(), arch(), cpus()[0]?.model ?? 'unknown', cpus().length].join(' / ');
}
