/** Which guards this machine can give. Tests that need a missing one are skipped and say so. */
import { findSandbox } from '../../src/engine/execute/guard/sandbox.js';
import { findStrict } from '../../src/engine/execute/guard/strict.js';

const sandbox = await findSandbox();

/** Why there is no sandbox here; undefined where there is one. */
export const noSandbox: string | undefined = sandbox.kind === 'impossible' ? `no sandbox here: ${sandbox.why}` : undefined;

/** Why nothing can be traced here. */
export const noStrace: string | undefined = findStrict(process.env) === undefined ? 'no strace that can trace here' : undefined;

/** `describe`, or a loud omission. */
export function describeWith(obstacle: string | undefined): jest.Describe {
  if (obstacle === undefined) return describe;
  process.stderr.write(`SKIPPED: ${obstacle}\n`);
  return describe.skip;
}
