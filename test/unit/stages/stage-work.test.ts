/** Side effects of stages: number of loaded native libraries and opened sessions. */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { jest } from '@jest/globals';
import ort from 'onnxruntime-node';
import { addsExactly } from '../../../src/runtime/session/integer-kernels.js';
import { evaluate } from '../../../stages/evaluate/stage.js';
import { runStage, temporaryFolder } from '../../support/run-stage.js';
import { writeShapes } from '../../support/shapes-files.js';

const DIST = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));

/** Packages with native code, or many modules, that are loaded once the stage's code is. */
function loadedBy(stage: string): readonly string[] {
  const script = `
    import { createRequire } from 'node:module';
    await import(${JSON.stringify(pathToFileURL(join(DIST, 'stages', stage, 'run.js')).href)});
    const files = [...Object.keys(createRequire(import.meta.url).cache), ...process.report.getReport().sharedObjects];
    console.log(JSON.stringify(['sharp', 'onnxruntime-node'].filter(name => files.some(file => file.includes('/node_modules/' + name + '/')))));`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as string[];
}

it.each([
  ['export', []],
  ['split', []],
  ['quantize', []],
  ['rewrite', ['onnxruntime-node']],
  ['calibrate', ['onnxruntime-node']],
  ['evaluate', ['onnxruntime-node']],
  ['report', []],
] as const)('the code of %s loads only %j: libraries for images and charts wait for the first one', (stage, packages) => {
  expect(loadedBy(stage)).toEqual(packages);
});

it('evaluate opens one session per part, however many images there are', async () => {
  const folder = await temporaryFolder('work');
  // Its own session, one per process, is no part's.
  await addsExactly();
  const create = jest.spyOn(ort.InferenceSession, 'create');
  try {
    const { parts, recipe, config, val } = await writeShapes(folder.path);
    await runStage(evaluate, { params: { samples: 4 }, inputs: { parts, recipe, config, data: val }, folder: folder.path });
    expect(create.mock.calls.length).toBe(Object.keys(parts).length);
  } finally {
    create.mockRestore();
    await folder.remove();
  }
});
