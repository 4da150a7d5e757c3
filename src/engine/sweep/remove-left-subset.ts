/** Removal of what a killed `watch --subset` has left. */
import { existsSync } from 'node:fs';
import type { Plan } from '../model/plan.js';
import type { EnginePorts } from '../model/ports.js';
import type { CacheFolder } from '../store/cache-folder.js';
import { subsetName } from './sweep-names.js';

/** A subset that `watch` evaluates is removed at its end: what is there was left by one that was killed. Call only while holding the lock. */
export async function removeLeftSubset({ pipeline, projectFolder }: Plan, cache: CacheFolder, ports: EnginePorts): Promise<void> {
  const name = subsetName(pipeline);
  if (!existsSync(cache.state(name))) return;
  const { removeLeftSweep } = await import('./remove-sweep.js');
  await removeLeftSweep(name, projectFolder, cache, ports);
}
