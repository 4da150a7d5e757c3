/** A runner of which some models run on this machine. */
import { join } from 'node:path';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { openMixedRunner } from '../../../src/runtime/device/mixed-runner.js';
import { openCpuRunner, type Runner } from '../../../src/runtime/device/runner.js';
import { temporaryFolder } from '../../support/run-stage.js';
import { randomFloats, smallModel } from '../../support/small-model.js';

it('opens the given paths here, all other models on the device, and closes both', async () => {
  const folder = await temporaryFolder('mixed-runner');
  try {
    const model = smallModel({ inputs: { x: ['float32', [2]] }, nodes: [{ op: 'Neg', in: ['x'], out: ['y'] }], outputs: ['y'] });
    const paths = ['here', 'there'].map(name => join(folder.path, `${name}.onnx`));
    for (const path of paths) await writeModel(path, model);
    const cpu = openCpuRunner();
    const opened: unknown[] = [];
    let closed = 0;
    const identity = { runner: { name: 'device' } } as unknown as Runner['identity'];
    const device: Runner = {
      identity,
      open: (source, options) => {
        opened.push(source);
        return cpu.open(source, options);
      },
      close: async () => {
        closed += 1;
        await cpu.close();
      },
    };
    const [here = '', there = ''] = paths;
    const mixed = openMixedRunner(device, new Set([here]));
    const feeds = { x: randomFloats([2], 1) };
    const sessions = [await mixed.open(here, { optimization: 'all' }), await mixed.open(there, { optimization: 'all' })];
    const [one, other] = await Promise.all(sessions.map(session => session.run(feeds)));
    expect(one).toEqual(other);
    expect([opened, mixed.identity]).toEqual([[there], identity]);
    await mixed.close();
    expect(closed).toBe(1);
    await expect(sessions[0]?.run(feeds)).rejects.toThrow();
  } finally {
    await folder.remove();
  }
});
