/** 10,000 stages in 10 levels whose results are all in the remote cache and stay there, at two latencies: time and peak memory of the whole command. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import PQueue from 'p-queue';
import { makeEnginePorts, neverAborted } from '../../src/cli/pipeline/engine-ports.js';
import { load } from '../../src/cli/pipeline/open-plan.js';
import { openSession } from '../../src/engine/action/session.js';
import type { KnownResult } from '../../src/engine/model/known-result.js';
import type { StageId } from '../../src/engine/model/plan.js';
import { cacheFolderAt, makeCacheFolder } from '../../src/engine/store/cache-folder.js';
import { sendResult } from '../../src/engine/store/remote/send-result.js';
import { type ServerInProcess, startServerInProcess } from '../../test/support/remote/server-in-process.js';
import { DIST } from '../../test/support/shapes-project.js';
import { measureProcess } from '../measured-process.js';
import { printTable } from '../table.js';
import { makeTrivialFolder, writeTrivialPipeline } from '../trivial-graph.js';
import { connect, useOf } from './throughput.js';

const LEVELS = 10;
const WIDTH = 1_000;
const LATENCIES_MS = [5, 50];

export async function measureScale(): Promise<void> {
  const server = await startServerInProcess();
  const { folder, remove } = makeTrivialFolder('scale');
  try {
    writeTrivialPipeline(folder, { layers: LEVELS, width: WIDTH, stages: [] });
    await seed(folder, server);
    const rows: string[][] = [];
    for (const latencyMs of LATENCIES_MS) {
      const { calls: before } = await server.setLatency(latencyMs);
      const use = measureProcess({
        command: process.execPath,
        args: [
          join(DIST, 'bin/tanren.js'),
          'build',
          '--remote-cache',
          server.address,
          '--download',
          'none',
          '--cache',
          join(folder, `none-${latencyMs}`),
        ],
        cwd: folder,
      });
      const { calls } = await server.setLatency(0);
      rows.push([`${latencyMs} ms`, (use.wallMs / 1000).toFixed(1), String(calls - before), (use.peakBytes / 1e6).toFixed(0)]);
    }
    printTable(`${LEVELS * WIDTH} hits in ${LEVELS} levels, none downloaded (bounds: 20 s at 5 ms, 40 s at 50 ms, 500 MB)`, [
      ['latency', 's', 'calls', 'peak, MB'],
      ...rows,
    ]);
  } finally {
    server.close();
    remove();
  }
}

/** Gives the server the results that the stages would have, without running 10,000 programs. */
async function seed(folder: string, server: ServerInProcess): Promise<void> {
  const before = process.cwd();
  process.chdir(folder);
  const remote = await connect(server);
  try {
    const { plan } = await load({ file: 'pipeline.yaml', param: [], paramsFile: [] }, 'read-only');
    if (plan === undefined) throw new Error('the pipeline cannot be planned');
    const cache = cacheFolderAt(join(folder, 'seed'));
    makeCacheFolder(cache);
    const session = openSession(
      plan,
      makeEnginePorts(() => undefined, neverAborted),
      cache,
      'write',
    );
    const known = new Map<StageId, KnownResult>();
    const use = useOf(remote);
    const queue = new PQueue({ concurrency: 32 });
    for (const stage of plan.stages.values()) {
      const { key, manifest } = await session.pinner.pin(stage, id => known.get(id));
      const { digest, sizeBytes = 0 } = await session.store.storeBytes(`${stage.id.replace('@', '-')}\n`, 'no-flush');
      const outputs = { out: { kind: 'file', digest, sizeBytes, executable: false } as const };
      known.set(stage.id, { key, outputs: { out: { ...outputs.out, signature: '' } } });
      const result = { outputs, metrics: undefined, log: undefined, durationMs: 10 };
      void queue.add(() => sendResult({ use, local: session }, key, manifest, result));
      if (queue.size > 200) await queue.onSizeLessThan(100);
    }
    await queue.onIdle();
    writeFileSync(join(folder, 'seeded'), '');
  } finally {
    remote.close();
    process.chdir(before);
  }
}
