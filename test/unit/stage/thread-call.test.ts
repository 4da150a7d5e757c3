/** Calls in threads: results, errors with their codes, and threads that end early. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isCodedError } from '../../../src/base/coded-error.js';
import { callThread } from '../../../src/stage/thread-call.js';
import { givenFolder } from '../../support/run-stage.js';
import { DIST } from '../../support/world.js';

const folder = givenFolder('thread-call');
const OURS = pathToFileURL(join(DIST, 'src/stage/thread-call.js')).href;
const ERRORS = pathToFileURL(join(DIST, 'src/stage/stage-error.js')).href;

let calls = 0;

/** Calls a thread whose work is the body of an async function of `given`. */
function call(work: string, argument: unknown = null): Promise<unknown> {
  const module = join(folder.path, `thread-${calls++}.mjs`);
  writeFileSync(
    module,
    `import { answerCall } from '${OURS}';\nimport { StageError } from '${ERRORS}';\nawait answerCall(async given => { ${work} });\n`,
  );
  return callThread(pathToFileURL(module), argument);
}

it('the result is that of the work on the argument', async () => {
  expect(await call('return { sum: given.numbers.get("a") + 1 };', { numbers: new Map([['a', 2]]) })).toEqual({ sum: 3 });
});

it('an error has the code, message, details, help and causes that the thread gave it', async () => {
  const thrown: unknown = await call(
    `throw new StageError('bad-scale', 'it is 0', { details: [1], help: 'use 1', cause: new Error('outer', { cause: 'inner' }) });`,
  ).catch((error: unknown) => error);
  expect(isCodedError(thrown)).toBe(true);
  expect(thrown).toMatchObject({ code: 'bad-scale', message: 'it is 0', details: [1], help: 'use 1' });
  expect(thrown).toMatchObject({ cause: { message: 'outer', cause: { message: 'inner' } } });
});

it('an error of the system keeps its code, and one without a code the place where it was thrown', async () => {
  await expect(call(`(await import('node:fs')).readFileSync('/missing/file');`)).rejects.toMatchObject({ code: 'ENOENT' });
  await expect(call('return () => 1;')).rejects.toMatchObject({ message: expect.stringContaining('could not be cloned') });
  const thrown = await call(`null.x;`).catch((error: unknown) => error);
  expect(isCodedError(thrown)).toBe(false);
  expect(String(thrown instanceof Error && thrown.stack)).toMatch(/thread-\d+\.mjs/);
});

it.each([
  ['exits', 'process.exit(3);', 'exit code 3'],
  ['fails outside of its work', 'setTimeout(() => null.x); await new Promise(() => undefined);', 'null'],
])('a thread that %s ends the call with thread-ended', async (_what, work, why) => {
  await expect(call(work)).rejects.toMatchObject({ code: 'thread-ended', message: expect.stringContaining(why) });
});

it('a failure waits for its caller', async () => {
  const answer = call(`await 0; throw new StageError('bad-scale', 'it is 0');`);
  // The failure is there when the second thread has answered.
  await call('return 1;');
  await expect(answer).rejects.toMatchObject({ code: 'bad-scale' });
});
