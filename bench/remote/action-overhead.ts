/** Measures what an action costs besides its work: stages that only write a text, two at once, on Bazel's remote worker, if it is installed. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { missing, type RealServer, startWorker } from '../../test/support/remote/real-servers.js';
import { DIST } from '../../test/support/shapes-project.js';
import { runProgram } from '../run-program.js';
import { printTable } from '../table.js';

const ACTIONS = 40;
const AT_ONCE = 2;
const ROUNDS = 4;

export async function measureActionOverhead(): Promise<void> {
  if (missing.worker !== undefined) {
    console.log(`not measured: Bazel's remote worker is missing (${missing.worker})`);
    return;
  }
  const server = await startWorker();
  try {
    const rows: string[][] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const seconds = timeActions(server, `round ${round}`);
      const what = round === 0 ? 'first, uploads the runtime' : `later`;
      rows.push([what, seconds.toFixed(1), ((seconds * 1000) / ACTIONS).toFixed(0)]);
    }
    printTable(`${ACTIONS} actions that write a text, ${AT_ONCE} at once, on Bazel's remote worker`, [
      ['build', 's', 'ms per action'],
      ...rows,
    ]);
  } finally {
    await server.stop();
  }
}

/** Builds in a new folder. @returns seconds. @throws if an action did not run on the worker. */
function timeActions({ ports }: RealServer, text: string): number {
  const folder = mkdtempSync(join(tmpdir(), 'tanren-bench-actions-'));
  try {
    const items = Array.from({ length: ACTIONS }, (_, index) => `i${index}`);
    const command = { shell: 'sh', run: [`echo '${text}' \${item} > out`], outputs: { out: 'out' } };
    const pipeline = { version: 1, stages: { write: { foreach: items, uses: 'command', executor: 'remote', with: command } } };
    // JSON is valid YAML.
    writeFileSync(join(folder, 'pipeline.yaml'), JSON.stringify(pipeline));
    const server = ['--remote-cache', `grpc://127.0.0.1:${ports[0]}`, '--remote-jobs', String(AT_ONCE)];
    const start = performance.now();
    const said = runProgram({ command: process.execPath, args: [join(DIST, 'bin/tanren.js'), 'build', ...server], cwd: folder });
    const seconds = (performance.now() - start) / 1000;
    if (!said.includes(`${ACTIONS} executed`)) throw new Error(`all actions were to run on the worker; the build said:\n${said}`);
    return seconds;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
