/** The generated modules of WebAssembly kernels against their WAT sources. */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProject } from '../../arch/import-graph.js';

it("every generated module equals the compiler's output for its source", () => {
  const script = join(findProject(dirname(fileURLToPath(import.meta.url))), 'scripts/compile-kernels.mjs');
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(Number(/^(\d+) kernels compared/.exec(stdout)?.[1])).toBeGreaterThanOrEqual(5);
});
