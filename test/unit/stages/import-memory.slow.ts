/** The memory of `import`, in a process with the flags of a worker. */
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/run-stage.js';
import { DIST } from '../../support/world.js';

/** As `src/engine/execute/run/worker-run.ts` starts workers. */
const WORKER_FLAGS = ['--single-threaded', '--no-incremental-marking'];
const program = join(DIST, 'test/support/play-import.js');

it('peaks at most 1.3 times the file above the peak for a small model', async () => {
  const folder = await temporaryFolder('import-memory');
  try {
    const peakOf = (name: string, layers: number, channels: number): { readonly peak: number; readonly sizeBytes: number } => {
      const path = join(folder.path, name);
      execFileSync(process.execPath, [program, 'write', path, String(layers), String(channels)]);
      const peak = Number(execFileSync(process.execPath, [...WORKER_FLAGS, program, 'import', path], { encoding: 'utf8' }));
      return { peak, sizeBytes: statSync(path).size };
    };
    const small = peakOf('small.onnx', 4, 256);
    const large = peakOf('large.onnx', 12, 2048);
    expect(large.sizeBytes).toBeGreaterThan(2e8);
    expect(large.peak - small.peak).toBeLessThan(1.3 * large.sizeBytes);
  } finally {
    await folder.remove();
  }
});
