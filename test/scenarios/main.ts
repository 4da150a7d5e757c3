/** `npm run scenarios [NUMBER …]`: what happens to build systems, and whether this one keeps its promise, as a table. */
import { formatDuration } from '../../src/base/text/format.js';
import { SCENARIOS } from './scenarios.js';
import type { Scenario } from './scene.js';

const chosen = new Set(process.argv.slice(2).map(Number));
const tally = { holds: 0, BROKEN: 0, 'not here': 0 };

for (const scenario of SCENARIOS) {
  if (chosen.size > 0 && !chosen.has(scenario.number)) continue;
  const started = performance.now();
  const { verdict, why } = await judge(scenario);
  tally[verdict]++;
  const time = formatDuration(performance.now() - started);
  process.stdout.write(`${`${scenario.number}`.padStart(3)}  ${verdict.padEnd(8)}  ${time.padStart(7)}  ${scenario.title}${why}\n`);
}
const played = tally.holds + tally.BROKEN;
const absent = tally['not here'] === 0 ? '' : `; ${tally['not here']} cannot be played on this machine`;
process.stdout.write(`${tally.holds} of ${played} scenarios hold${absent}\n`);
process.exitCode = tally.BROKEN === 0 ? 0 : 1;

async function judge({ obstacle, play }: Scenario): Promise<{ readonly verdict: keyof typeof tally; readonly why: string }> {
  if (obstacle !== undefined) return { verdict: 'not here', why: ` (${obstacle})` };
  try {
    await play();
    return { verdict: 'holds', why: '' };
  } catch (error) {
    const lines = (error instanceof Error ? error.message : String(error)).split('\n').slice(0, 12);
    return { verdict: 'BROKEN', why: ['', ...lines].join('\n            ') };
  }
}
