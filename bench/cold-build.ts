/** How long does the whole default pipeline take with an empty cache, and which stages take it? */
import type { BuiltExample, Example } from './example.js';
import { printTable } from './table.js';

export async function measureColdBuild(example: Example): Promise<void> {
  const { build, coldMs } = example.get();
  const stages = [...build.stages.values()].map(stage => ({ stage: stage.stage, ms: durationOf(stage) }));
  const sum = stages.reduce((total, { ms }) => total + ms, 0);
  printTable('The default pipeline with an empty cache, one build', [
    ['stage', 's', 'share'],
    ...stages.map(({ stage, ms }) => [stage, seconds(ms), `${((100 * ms) / sum).toFixed(0)} %`]),
    ['all stages, one after the other', seconds(sum), '100 %'],
    ['the build', seconds(coldMs), `${(sum / coldMs).toFixed(2)} stages at once`],
  ]);
}

function durationOf({ stage, outcome }: BuiltExample['build']['stages'] extends ReadonlyMap<string, infer S> ? S : never): number {
  const ms = 'durationMs' in outcome ? outcome.durationMs : undefined;
  if (typeof ms !== 'number') throw new Error(`${stage} was to be executed; it is ${outcome.kind}`);
  return ms;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(2);
}
