/** The peak memory of `capture` over many samples. */
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../support/run-stage.js';
import { writeShapesParts } from '../../support/shapes-parts.js';

/** A sample of the example with up to 200 RoIs: 3.7 MB of inputs and outputs. */
const FEW = 8;

it('the peak memory of a capture does not grow with the number of samples', async () => {
  const folder = await temporaryFolder('capture-memory');
  await writeShapesParts(folder.path);
  const script = join(dirname(import.meta.dirname), '../support/capture-process.js');
  const peakMb = async (samples: number): Promise<number> => {
    const { stdout } = await promisify(execFile)(process.execPath, [script, folder.path, String(samples)]);
    return Number(stdout) / 1024;
  };
  const peaks = [await peakMb(FEW), await peakMb(4 * FEW)] as const;
  await folder.remove();
  // 24 more samples have 90 MB: were they held, all of that would show. Garbage that is not yet collected is noise of some tens of MB.
  expect(peaks[1] - peaks[0]).toBeLessThan(45);
}, 300_000);
