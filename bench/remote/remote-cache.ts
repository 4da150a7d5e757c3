/** Measures remote caches: throughput, packed parts, scale, and a warm default pipeline on an empty machine. */

import { startServerInProcess } from '../../test/support/remote/server-in-process.js';
import { givenShapesProject } from '../../test/support/shapes-project.js';
import type { Example } from '../example.js';
import { printTable } from '../table.js';
import { measurePackedParts } from './packed-parts.js';
import { measureParts } from './parts-scale.js';
import { measureScale } from './scale.js';
import { measureThroughput } from './throughput.js';

export async function measureRemoteCache(): Promise<void> {
  await measureThroughput();
  await measurePackedParts();
}

export async function measureRemoteScale(): Promise<void> {
  await measureScale();
}

export async function measureRemoteParts(): Promise<void> {
  await measureParts();
}

interface RemoteReport {
  readonly remote?: { readonly hits: number; readonly misses: number; readonly downloadedBytes: number; readonly calls: number };
}

/** The default pipeline whose results are all on the server, built where nothing is. */
export async function measureWarmPipeline(example: Example): Promise<void> {
  const server = await startServerInProcess();
  try {
    const { project } = example.get();
    process.env.TANREN_REMOTE_CACHE = server.address;
    process.env.TANREN_REMOTE_WRITE = 'yes';
    const pushed = project.tanren('cache', 'remote', 'push');
    if (pushed.exitCode !== 0) throw new Error(`push failed:\n${pushed.stdout}${pushed.stderr}`);
    process.env.TANREN_REMOTE_WRITE = 'no';
    const rows: string[][] = [];
    for (const [name, args] of CHOICES) {
      const empty = givenShapesProject('all');
      try {
        const start = performance.now();
        const { exitCode, stdout, stderr } = empty.tanren('build', '--json', ...args);
        const seconds = (performance.now() - start) / 1000;
        if (exitCode !== 0) throw new Error(`the warm build failed:\n${stdout}${stderr}`);
        const { remote } = JSON.parse(stdout) as RemoteReport;
        rows.push([
          name,
          seconds.toFixed(1),
          `${remote?.hits}`,
          `${remote?.misses}`,
          ((remote?.downloadedBytes ?? 0) / 1e6).toFixed(1),
          `${remote?.calls}`,
        ]);
      } finally {
        empty.remove();
      }
    }
    printTable('The default pipeline on an empty machine, its results in a remote cache', [
      ['', 's', 'hits', 'misses', 'MB down', 'calls'],
      ...rows,
    ]);
  } finally {
    delete process.env.TANREN_REMOTE_CACHE;
    delete process.env.TANREN_REMOTE_WRITE;
    server.close();
  }
}

const CHOICES: readonly (readonly [name: string, args: readonly string[]])[] = [
  ['everything', []],
  ['--download targets, compile', ['compile', '--download', 'targets']],
  ['--download none', ['--download', 'none']],
];
