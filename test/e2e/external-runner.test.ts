/** `runner: external` in a whole project through the command line, with a real runner on the CPU provider whose identity a file can change. */
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type CliWorld, givenProject } from '../support/cli-world.js';
import { CPU_RUNNER, FAULTY_RUNNER } from '../support/runner-host.js';
import { PROJECT } from '../support/shapes-project.js';
import { isAlive, until } from '../support/until.js';

const SHAPES = join(PROJECT, 'examples/shapes');

/** Two stages on one device, and one that a runner of the test's choice runs. */
const pipeline = (external: string, runner = CPU_RUNNER): string => `version: 1
sources:
  checkpoint: ${SHAPES}/models/maskrcnn-shapes.safetensors
  config: ${SHAPES}/models/maskrcnn-shapes.json
  val: {annotations: ${SHAPES}/data/instances_val.json, images: ${SHAPES}/data/val}
  runner: ${runner}
stages:
  export:
    uses: export
    with: {architecture: maskrcnn, input: [1, 3, 192, 256]}
    inputs: {checkpoint: "\${sources.checkpoint}", config: "\${sources.config}"}
  parts: {uses: split, with: {recipe: maskrcnn}, inputs: {model: export.model, recipe: export.recipe}}
  accuracy:
    uses: evaluate
    with: {samples: 2, runner: external, external: ${external}}
    inputs: {parts: &parts {backbone: parts.backbone, box_head: parts.box_head, mask_head: parts.mask_head}, recipe: export.recipe, config: "\${sources.config}", data: "\${sources.val}", runner: {program: "\${sources.runner}"}}
  same:
    uses: verify
    with: {samples: 1, thresholds: {maxAbs: 0, maxMissed: 0}, runner: external, external: ${external}}
    inputs: {reference: *parts, candidate: *parts, recipe: export.recipe, config: "\${sources.config}", data: "\${sources.val}", runner: {program: "\${sources.runner}"}}
`;

let world: CliWorld;
let identity: string;

beforeAll(() => {
  world = givenProject({ 'identity.json': '{}' });
  identity = join(world.folder, 'identity.json');
  // The runner is copied into the folder of its run, inside the project: its package is found from there.
  symlinkSync(join(PROJECT, 'node_modules'), join(world.folder, 'node_modules'));
  world.write('pipeline.yaml', pipeline(onCpu()));
});
afterAll(() => world.remove());

const onCpu = (): string => `{command: [node, ./program.mjs, --identity, ${identity}], device: cpu}`;
const outcomes = (...args: readonly string[]): Record<string, string> => {
  const { stdout } = world.run('build', '--json', ...args);
  const { stages } = JSON.parse(stdout) as { stages: { stage: string; outcome: { kind: string } }[] };
  return Object.fromEntries(stages.map(({ stage, outcome }) => [stage, outcome.kind]));
};
const failureOf = (stage: string): { code: string; message: string } => {
  const { stdout } = world.run('build', '--json', stage);
  const { stages } = JSON.parse(stdout) as { stages: { stage: string; outcome: { failure: { code: string; message: string } } }[] };
  return stages.find(found => found.stage === stage)?.outcome.failure ?? { code: '', message: '' };
};

describe('stages on an external runner', () => {
  it('build, and start nothing while nothing changes', () => {
    expect(outcomes()).toEqual({ export: 'executed', parts: 'executed', accuracy: 'executed', same: 'executed' });
    // A runner that cannot even start would fail the build, were it started.
    world.write('identity.json', 'no JSON');
    expect(world.run('build').stdout).toContain('nothing to do: 4 stages up to date');
    world.write('identity.json', '{}');
  });

  it('are shown with the last known identity and its date', () => {
    const { stdout } = world.run('status');
    expect(stdout).toMatch(
      /device as of 20\d\d-\d\d-\d\dT.*: runner\.name tanren-cpu-runner,.*provider CPUExecutionProvider, device\.kind cpu/,
    );
    expect(world.run('explain', 'accuracy').stdout).toContain('provider CPUExecutionProvider');
    const { stages } = JSON.parse(world.run('status', '--json').stdout) as { stages: { stage: string; device?: { seen: string } }[] };
    expect(stages.filter(({ device }) => device !== undefined).map(({ stage }) => stage)).toEqual(['accuracy', 'same']);
  });

  it('are stale once a start finds another driver', () => {
    world.write('identity.json', '{"device": {"kind": "cpu", "name": "board", "driver": "2.0"}}');
    expect(world.run('build').stdout).toContain('nothing to do');
    const forced = world.run('build', '--force', 'accuracy');
    expect(forced.stdout + forced.stderr).toMatch(/warning\[device-changed\].*device\.driver: "" → "2.0"/);
    expect(world.run('status').stdout).toMatch(/same +would run: device\.device\.driver: "" → "2.0"/);
    expect(outcomes()).toEqual({ export: 'up-to-date', parts: 'up-to-date', accuracy: 'up-to-date', same: 'executed' });
  });

  it('are stale when the runner itself changes', () => {
    world.write('other.mjs', `${readFileSync(CPU_RUNNER, 'utf8')}\n// Another version.\n`);
    world.write('pipeline.yaml', pipeline(onCpu(), 'other.mjs'));
    expect(world.run('status').stdout).toMatch(/accuracy +would run: source other\.mjs changed/);
    world.write('pipeline.yaml', pipeline(onCpu()));
  });

  it('fail if a runner that claims the NPU runs on the CPU; earlier artifacts are kept', () => {
    const before = world.read('artifacts/same/report.json');
    world.write('identity.json', '{"device": {"kind": "npu", "name": "board", "driver": "2.0"}}');
    world.write('pipeline.yaml', pipeline(onCpu().replace('device: cpu', 'device: npu')));
    const failure = failureOf('same');
    expect(failure).toMatchObject({ code: 'runner-cpu-fallback', message: expect.stringContaining('no node ran on the NPU') });
    expect(world.read('artifacts/same/report.json')).toBe(before);
  });

  it('run the models of `here` on this machine, and the others on the runner', () => {
    // A runner that claims the NPU and uses the CPU: every model that it runs is refused.
    const here = (...names: readonly string[]): string =>
      pipeline(onCpu().replace('device: cpu', `device: npu, here: [${names.join(', ')}]`));
    world.write('pipeline.yaml', here('backbone', 'box_head', 'mask_head'));
    expect(outcomes()).toEqual({ export: 'up-to-date', parts: 'up-to-date', accuracy: 'executed', same: 'executed' });
    world.write('pipeline.yaml', here('backbone', 'mask_head'));
    for (const stage of ['accuracy', 'same']) expect(failureOf(stage)).toMatchObject({ code: 'runner-cpu-fallback' });
    world.write('pipeline.yaml', here('backbone', 'box_haed'));
    expect(failureOf('same')).toMatchObject({ code: 'runner-here', message: expect.stringContaining('"box_haed"') });
    world.write('identity.json', '{"device": {"kind": "cpu", "name": "board", "driver": "2.0"}}');
    world.write('pipeline.yaml', here('box_head').replaceAll('device: npu', 'device: cpu'));
    expect(outcomes()).toEqual({ export: 'up-to-date', parts: 'up-to-date', accuracy: 'executed', same: 'executed' });
  });

  it.each([
    ['crash-at-start', 'runner-died', 'no driver found'],
    ['garbage-at-start', 'runner-garbage', 'Loading the driver'],
    ['other-model', 'runner-outputs', 'which the model does not have'],
  ])('fail as what it is where the runner does %s', (mode, code, said) => {
    world.write('pipeline.yaml', pipeline(`{command: [node, ./program.mjs, ${mode}]}`, FAULTY_RUNNER));
    expect(failureOf('same')).toMatchObject({ code, message: expect.stringContaining(said) });
  });

  it('end with a killed build, even if the runner hangs', async () => {
    const pid = join(world.folder, 'runner.pid');
    world.write('pipeline.yaml', pipeline(`{command: [node, ./program.mjs, hang-at-start, ${pid}]}`, FAULTY_RUNNER));
    const building = world.start('build', 'same');
    await until(() => existsSync(pid) && readFileSync(pid, 'utf8') !== '');
    building.signal('SIGKILL');
    await building.ended;
    await until(() => !isAlive(Number(readFileSync(pid, 'utf8'))));
  });
});
