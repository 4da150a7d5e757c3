/** The platform class is stable, and the guard does not load ONNX Runtime. */
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { computePlatformClass, findOtherSums } from '../../../src/runtime/platform/platform-class.js';
import { platformGuard } from '../../../src/runtime/platform/platform-guard.js';

const DIST = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));

describe('the platform class', () => {
  it('names system, Node, ONNX Runtime and the probes, and is the same in another process', async () => {
    const here = await computePlatformClass();
    const module = pathToFileURL(join(DIST, 'src/runtime/platform/platform-class.js')).href;
    const script = `import { computePlatformClass } from ${JSON.stringify(module)}; process.stdout.write(await computePlatformClass());`;

    expect(here).toMatch(/^\w+-\w+ node\d+ ort1\.\d+\.\d+ [0-9a-f]{16}$/);
    expect(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })).toBe(here);
  });
});

describe('the probe of threads', () => {
  // On processors with cores of two kinds, ONNX Runtime cuts the work of a session with two threads as that of one with eight elsewhere.
  it('tells machines apart that cut the sums of two threads finer', async () => {
    const sums = await findOtherSums(8);
    expect(sums?.product?.dims).toEqual([64, 256]);
    expect(await findOtherSums(1)).toBeUndefined();
  });
});

describe('the guard', () => {
  it('is stable, and loads no native library', () => {
    const module = pathToFileURL(join(DIST, 'src/runtime/platform/platform-guard.js')).href;
    const script = `import { platformGuard } from ${JSON.stringify(module)}; const guard = platformGuard();
      process.stdout.write(JSON.stringify({ guard, libraries: process.report.getReport().sharedObjects.filter(name => /onnxruntime/.test(name)) }));`;
    const found = JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }));

    expect(found.guard).toBe(platformGuard());
    expect(found.libraries).toEqual([]);
  });
});
