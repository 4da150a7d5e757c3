/** An installation that disappears under a process is told from other missing code. */
import { isInstallationGone } from '../../../src/cli/process/installation-gone.js';

const failureOf = async (specifier: string): Promise<unknown> => {
  // jest has its own loader, so that Node's is asked in a process.
  const { spawnSync } = await import('node:child_process');
  const script = `import(${JSON.stringify(specifier)}).catch(({ code, url }) => console.log(JSON.stringify({ code, url })))`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  return Object.assign(new Error('import'), JSON.parse(stdout));
};

it.each([
  ['a file that is gone', 'file:///nowhere/chunk-1.mjs', true],
  ['a package that is not installed', 'no-such-package-of-anyone', false],
])('%s', async (_, specifier, expected) => {
  expect(isInstallationGone(await failureOf(specifier))).toBe(expected);
});

it('other errors are none', () => {
  expect([isInstallationGone(new Error('x')), isInstallationGone('x'), isInstallationGone(undefined)]).toEqual([false, false, false]);
});
