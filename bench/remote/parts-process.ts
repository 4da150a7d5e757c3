/**
 * The build of the measurement of many parts, with the flags of a build's process. It writes the time of the build in ms.
 * Arguments: the server's address, the number of parts, ms of each, actions at once, the kind of workers.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setBuildProcessFlags } from '../../src/cli/process/build-process-flags.js';
import { smallRuntime } from '../../test/support/remote/fake-worker.js';
import { createRig } from '../../test/support/remote/remote-rig.js';

const [address = '', count = '0', ms = '0', remoteJobs = '1', workers] = process.argv.slice(2);
setBuildProcessFlags();
const folder = mkdtempSync(join(tmpdir(), 'tanren-bench-parts-'));
const rig = createRig();
try {
  const world = rig.checkout({
    spread: { uses: 'spread', params: { count: Number(count), ms: Number(ms) }, inputs: { text: 'source.txt' } },
  });
  const use = { executor: 'remote', read: false, write: false, remoteJobs: Number(remoteJobs) } as const;
  const { outcomes, warnings, report } = await rig.build(world, address, use, {}, { runtime: smallRuntime(folder) });
  // The plugin has its number and the text of the source; a simulated worker has the number only.
  const text = Array.from({ length: Number(count) }, (_, index) => (workers === 'simulated' ? String(index) : `${index} ONE\nTWO!`)).join(
    '\n',
  );
  if (outcomes.spread !== 'executed' || warnings.length > 0 || world.read('artifacts/spread/text') !== text)
    throw new Error(`the build gave ${JSON.stringify([outcomes, warnings])}, or another text`);
  // Without the removal of the two files per part that follows.
  process.stdout.write(String(report.durationMs));
} finally {
  rig.removeAll();
  rmSync(folder, { recursive: true, force: true });
}
