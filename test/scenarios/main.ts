/** `npm run scenarios`: what happens to build systems, and whether this one keeps its promise, as a table. */
import { formatDuration } from '../../src/base/format.js';
import { SCENARIOS } from './scenarios.js';

let broken = 0;
for (const [i, { title, play }] of SCENARIOS.entries()) {
  const started = performance.now();
  let verdict = 'holds';
  let why = '';
  try {
    await play();
  } catch (error) {
    broken++;
    verdict = 'BROKEN';
    why = `\n      ${(error instanceof Error ? error.message : String(error)).split('\n').slice(0, 12).join('\n      ')}`;
  }
  process.stdout.write(
    `${`${i + 1}`.padStart(3)}  ${verdict.padEnd(6)}  ${formatDuration(performance.now() - started).padStart(7)}  ${title}${why}\n`,
  );
}
process.stdout.write(`${SCENARIOS.length - broken} of ${SCENARIOS.length} scenarios hold\n`);
process.exitCode = broken === 0 ? 0 : 1;
