/** Makes tests of scenarios. */

import { SCENARIOS } from '../scenarios/scenarios.js';
import type { Scenario } from '../scenarios/scene.js';

const TIMEOUT_MS = { quick: 300_000, slow: 1_200_000 };

export function playScenarios(isChosen: (scenario: Scenario) => boolean): void {
  it('every number names one scenario', () => {
    const numbers = SCENARIOS.map(({ number }) => number);
    expect(numbers).toEqual([...new Set(numbers)]);
  });
  for (const { number, title, obstacle, pace, play } of SCENARIOS.filter(isChosen)) {
    if (obstacle !== undefined) process.stderr.write(`SKIPPED: scenario ${number}: ${obstacle}\n`);
    (obstacle === undefined ? it : it.skip)(`${number} ${title}`, play, TIMEOUT_MS[pace]);
  }
}
