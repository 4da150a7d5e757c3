/**
 * Measures the whole default pipeline with an empty cache.
 * Reports its time, its processor time, and how close the time is to the minimum for the available cores.
 */
import { cpus } from 'node:os';
import { isJsonObject, type Json, parseJson } from '../src/base/json.js';
import type { BuiltExample, Example } from './example.js';
import { printTable } from './table.js';

export async function measureColdBuild(example: Example): Promise<void> {
  const { build, coldMs, processorMs, project } = example.get();
  const stages = [...build.stages.values()].map(stage => ({ stage: stage.stage, ms: durationOf(stage) }));
  const sum = stages.reduce((total, { ms }) => total + ms, 0);
  const critical = readCriticalPath(parseJson(project.tanren('profile', '--json').stdout));
  const criticalMs = critical.reduce((total, { ms }) => total + ms, 0);
  const least = Math.max(criticalMs, (processorMs ?? 0) / cpus().length);
  printTable('The default pipeline with an empty cache, one build', [
    ['stage', 's', 'share'],
    ...stages.map(({ stage, ms }) => [stage, seconds(ms), `${((100 * ms) / sum).toFixed(0)} %`]),
    ['all stages, one after the other', seconds(sum), '100 %'],
    ['processor work of all processes', processorMs === undefined ? 'unknown' : seconds(processorMs), ''],
    [`critical path: ${critical.map(({ stage }) => stage).join(', ')}`, seconds(criticalMs), ''],
    ['the build', seconds(coldMs), `${(coldMs / least).toFixed(2)} of the longer of critical path and work / ${cpus().length}`],
  ]);
}

function durationOf({ stage, outcome }: BuiltExample['build']['stages'] extends ReadonlyMap<string, infer S> ? S : never): number {
  const ms = 'durationMs' in outcome ? outcome.durationMs : undefined;
  if (typeof ms !== 'number') throw new Error(`${stage} was to be executed; it is ${outcome.kind}`);
  return ms;
}

/** The critical path as reported by `tanren profile --json`, without waits. */
function readCriticalPath(profile: Json | undefined): readonly { readonly stage: string; readonly ms: number }[] {
  const path = isJsonObject(profile) ? profile.criticalPath : undefined;
  if (!Array.isArray(path) || path.length === 0) throw new Error('`tanren profile --json` names no critical path');
  return path.map((one: Json) => {
    if (!isJsonObject(one) || typeof one.stage !== 'string' || typeof one.durationMs !== 'number')
      throw new Error(`\`tanren profile --json\`: ${JSON.stringify(one)} is no stage with its time`);
    return { stage: one.stage, ms: one.durationMs };
  });
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(2);
}
