/** Scenarios of metrics: figures that JSON cannot hold, "equal", and documents that no stage should write. */
import { match, strictEqual } from 'node:assert';
import { project, type Scenario } from './scene.js';

/** One stage that writes its metrics by a script; `build` fails with `metrics-malformed` and says `why`, twice, and nothing is kept. */
function refused(number: number, title: string, script: string, why: RegExp, pace: Scenario['pace'] = 'quick'): Scenario {
  const pipeline = `version: 1
stages:
  measure: {uses: command, with: {run: [${JSON.stringify(script)}], shell: sh, outputs: {metrics: {path: m.json, kind: metrics}}}}
`;
  return project(
    number,
    title,
    pipeline,
    world => {
      for (const attempt of ['first', 'second']) {
        const built = world.run('build');
        strictEqual(built.exitCode, 1, `${attempt}: ${built.stdout}${built.stderr}`);
        match(built.stdout + built.stderr, /metrics-malformed/);
        match(built.stdout + built.stderr, why);
      }
      strictEqual(world.exists('artifacts/measure'), false);
    },
    { pace },
  );
}

/** A stage whose metrics are the file m.json of the project. */
const COPIED = `version: 1
sources: {figures: m.json}
stages:
  measure:
    uses: command
    with: {run: [cp, in.json, out.json], inputs: {in: in.json}, outputs: {metrics: {path: out.json, kind: metrics}}}
    inputs: {in: "\${sources.figures}"}
`;

const gated = (bound: string): string => `${COPIED}    gate: {sqnrDb: "${bound}"}\n`;

export const METRICS: readonly Scenario[] = [
  refused(
    150,
    'a metric beyond the largest double fails the stage that wrote it, each time',
    `printf '{"a":{"b":1e999}}' > m.json`,
    /"a\.b"/,
  ),
  refused(151, 'a metric NaN fails the stage that wrote it, and says what JSON has instead', `printf '{"a":NaN}' > m.json`, /"equal"/),
  refused(
    152,
    'metrics nested 3,000 deep fail the stage that wrote them',
    `node -e 'process.stdout.write("{\\"a\\":".repeat(3000) + 1 + "}".repeat(3000))' > m.json`,
    /64 levels/,
  ),
  refused(153, 'metrics of 600 MB fail the stage that wrote them', 'truncate -s 600000000 m.json', /600 MB/, 'slow'),
  project(154, '"equal" meets a gate that asks for more, and every record shows it', gated('>= 40'), world => {
    world.write('m.json', '{"sqnrDb": "equal", "n": 3}');
    const first = world.run('build');
    strictEqual(first.exitCode, 0, first.stdout + first.stderr);
    match(first.stdout, /sqnrDb +equal/);
    match(first.stdout, /sqnrDb >= 40: equal/);
    match(world.run('build').stdout, /sqnrDb >= 40: equal/);
    match(world.run('metrics', '--save', 'base').stdout, /sqnrDb +equal/);
    world.write('m.json', '{"sqnrDb": 31.5, "n": 3}');
    const second = world.run('build');
    strictEqual(second.exitCode, 1, second.stdout + second.stderr);
    match(second.stdout, /sqnrDb +31\.5000 was equal/);
    match(world.run('diff', 'base').stdout, /sqnrDb +equal +31\.5000$/m);
    match(world.run('diff', 'r1').stdout, /gate sqnrDb >= 40 +✓ equal +✗ 31\.5000/);
    match(world.run('history', 'measure').stdout, /equal[\s\S]*31\.5000/);
  }),
  project(155, '"equal" misses a gate that asks for less, or for a number', gated('<= 40'), world => {
    world.write('m.json', '{"sqnrDb": "equal"}');
    strictEqual(world.run('build').exitCode, 1);
    world.write('pipeline.yaml', gated('== 999'));
    strictEqual(world.run('build').exitCode, 1);
    world.write('pipeline.yaml', gated('>= 1e999'));
    const refusedGate = world.run('build');
    strictEqual(refusedGate.exitCode, 2);
    match(refusedGate.stdout + refusedGate.stderr, /bad-gate/);
  }),
  project(156, 'a figure called __proto__ is a figure like others', COPIED, world => {
    world.write('m.json', '{"__proto__": 5}');
    match(world.run('build').stdout, /__proto__ +5/);
    world.write('m.json', '{"other": 7}');
    match(world.run('build').stdout, /other +7/);
    match(world.run('diff', 'r1').stdout, /other +7[\s\S]*__proto__ +5/);
    match(world.run('history', 'measure').stdout, /__proto__ +other/);
  }),
];
