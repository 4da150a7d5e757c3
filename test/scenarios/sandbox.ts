/** What becomes of stages that do not keep to what they declare? */
import { match, strictEqual } from 'node:assert';
import { B } from './forge.js';
import { buildAgain, buildFirst, type Scenario, scenario } from './scene.js';

export const SANDBOX: readonly Scenario[] = [
  scenario(35, 'a stage that gives other bytes each time is found by --check, and its first result stays', forge => {
    buildFirst(forge);
    const steady = forge.build('--check');
    strictEqual(steady.exitCode, 0, steady.stdout);
    strictEqual(steady.ran.join(), 'a,b,c,lone');
    forge.setScript(`${B}; cat /proc/sys/kernel/random/uuid >> out.txt`);
    const wild = forge.build('--check');
    strictEqual(wild.exitCode, 1);
    match(wild.stdout, /error\[non-deterministic\]: b: .*\n {2}text: differs from byte \d+ on/);
    match(wild.stdout, /✓ check a: same bytes/);
    match(wild.stdout, /✓ check c: same bytes/);
    const first = forge.project.read('artifacts/b/text');
    strictEqual(forge.build().ran.join(), '');
    strictEqual(forge.project.read('artifacts/b/text'), first);
    forge.setScript(B);
    buildAgain(forge, []);
  }),
];
