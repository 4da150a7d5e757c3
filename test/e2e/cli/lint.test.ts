/** `tanren lint` for scripts: exit codes, one JSON document, and clear messages for wrong arguments. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { getBuiltInProfile } from '../../../src/target/profile/choose-target.js';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { makeNeck } from '../../support/neck.js';
import { qdqGraph } from '../../support/qdq-graph.js';

let world: CliWorld;
beforeAll(() => {
  world = givenProject({});
  writeFileSync(join(world.folder, 'neck.onnx'), encodeModel(makeNeck()));
  const head = qdqGraph();
  head.input('x', ['rois', 4, 7, 7]);
  head.constant('w', [4, 4, 1, 1]);
  head.constant('v', [4, 4, 1, 1]);
  head.unit('Conv', ['x', 'w'], ['y']);
  head.unit('Conv', ['y', 'v'], ['z']);
  head.output('z');
  writeFileSync(join(world.folder, 'head.onnx'), encodeModel(head.build()));
  writeFileSync(join(world.folder, 'mine.json'), JSON.stringify(getBuiltInProfile('generic-int8')));
  writeFileSync(join(world.folder, 'bad.json'), '{"format": "tanren-target-profile/1"}');
});
afterAll(() => world.remove());

describe('tanren lint', () => {
  it('ends with 0 on a legal model, 1 on findings', () => {
    expect(world.run('lint', 'head.onnx', '-t', 'ryzen-ai', '--pin', 'rois=1')).toMatchObject({ exitCode: 0 });
    expect(world.run('lint', 'neck.onnx', '-t', 'ryzen-ai')).toMatchObject({ exitCode: 1, stderr: '' });
  });

  it('prints the report as one JSON document', () => {
    const { stdout, exitCode } = world.run('lint', 'neck.onnx', '-t', 'ryzen-ai', '--json');
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      format: 'tanren-compile-report/1',
      target: { profile: 'ryzen-ai', dtype: 'xint8' },
      models: [{ name: 'neck.onnx', legal: false, counts: { npuParts: 1 } }],
    });
  });

  it('checks the known sizes of a model with free sizes', () => {
    const { stdout, exitCode } = world.run('lint', 'head.onnx', '-t', 'ryzen-ai');
    expect(exitCode).toBe(1);
    expect(stdout).toContain('refused[shape-dynamic]');
  });

  it('accepts a profile file', () => {
    expect(world.run('lint', 'neck.onnx', '-t', 'mine.json').stdout).toContain('neck.onnx for generic-int8: generic, int8, software 1');
  });

  it.each([
    [['neck.onnx', '-t', 'ryzen-ai', '--dtype', 'xint9'], 'error[unknown-dtype]: unknown data type "xint9"'],
    [['neck.onnx', '-t', 'bad.json'], 'error[profile-malformed]: invalid target profile: name: should be text, it is missing'],
    [['neck.onnx', '-t', 'none.json'], 'error[profile-unreadable]: target profile none.json cannot be read: ENOENT'],
    [['none.onnx', '-t', 'ryzen-ai'], 'error[model-unreadable]'],
    [['mine.json', '-t', 'ryzen-ai'], 'error[model-malformed]'],
    [['head.onnx', '-t', 'ryzen-ai', '--pin', 'roi=4'], 'error[unknown-size]: no model input has a size named "roi"'],
    [['head.onnx', '-t', 'ryzen-ai', '--pin', 'rois'], 'error[invalid-argument]'],
    [['head.onnx'], "error[missing-mandatory-option-value]: required option '-t, --target <name>' not specified"],
  ])('ends with 2 on %j', (args, message) => {
    const { stdout, stderr, exitCode } = world.run('lint', ...args);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
    expect(stderr).toContain(message);
  });
});
