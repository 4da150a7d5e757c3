/** Scenarios of stages that do not keep to what they declare. */
import { match, strictEqual } from 'node:assert';
import { noSandbox, noStrace } from '../support/guards.js';
import { B } from './forge.js';
import { buildAgain, buildFirst, type Scenario, scenario } from './scene.js';

/** What b does, without the forge's trace and hooks, which are not declared either. */
const PLAIN = 'cat a.txt b.txt parts/* > out.txt; echo $TEMPER >> out.txt';
const obstacle = noSandbox ?? noStrace;

export const SANDBOX: readonly Scenario[] = [
  scenario(
    33,
    "a stage that writes into another stage's output is an error with --strict, and changes nothing in the sandbox; the output is restored",
    forge => {
      buildFirst(forge);
      forge.setScript(`${PLAIN}; echo overwritten > ${forge.path('artifacts/lone/text')}; true`);
      const strict = forge.build('b', '--strict');
      strictEqual(strict.exitCode, 1);
      match(strict.stdout, /error\[undeclared-write\]: b: the stage wrote outside its outputs:\n {2}artifacts\/lone\/text\n/);
      forge.setScript(B);
      match(forge.build().stdout, /warning\[artifact-edited\]: lone/);
      forge.expectRight();

      forge.setScript(`${PLAIN}; echo overwritten > ${forge.path('artifacts/lone/text')}; true`);
      strictEqual(forge.build('b', '--sandbox').exitCode, 0);
      forge.expectRight();
    },
    { obstacle },
  ),
  scenario(
    34,
    'a stage that reads an undeclared file is found by --strict, also after it was built, and cannot read the file in the sandbox',
    forge => {
      forge.project.write('side.txt', '');
      forge.setScript(`set -e; cat ${forge.path('side.txt')} > out.txt; ${PLAIN}`);
      strictEqual(forge.build().exitCode, 0);
      forge.project.write('side.txt', 'another');
      for (const how of ['--check', '--force']) {
        const strict = forge.build('b', '--strict', how);
        strictEqual(strict.exitCode, 1);
        match(strict.stdout, /error\[undeclared-read\]: b: the stage read files that it does not declare:\n {2}side\.txt\n/);
      }
      const sandboxed = forge.build('b', '--sandbox', '--force');
      strictEqual(sandboxed.exitCode, 1);
      match(sandboxed.stdout, /side\.txt: No such file or directory/);
    },
    { obstacle },
  ),
  scenario(35, 'a stage with different output bytes in each run is found by --check, and its first result is kept', forge => {
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
