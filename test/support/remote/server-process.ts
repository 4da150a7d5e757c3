/** The process of `startServerInProcess`: a server in memory. Its parent sets the latency, and gets the figures as the answer. */
import { type FakeServerOptions, startFakeServer } from './fake-grpc-server.js';
import { createFakeWorker } from './fake-worker.js';
import type { ServerFigures } from './server-in-process.js';
import { simulateWorkers } from './simulated-worker.js';

const [workers, slots] = [process.argv[2], Number(process.argv[3])];
/** What an action costs on a worker before its first part: Node and the platform class. */
const START_MS = 300;

const simulated = simulateWorkers(slots, START_MS);
const worker = workers === 'simulated' ? simulated.worker : createFakeWorker();
const options: FakeServerOptions = { latencyMs: 0, ...(workers === 'none' ? {} : { worker }) };
const server = await startFakeServer(options);
process.on('message', ({ latencyMs }: { readonly latencyMs: number }) => {
  options.latencyMs = latencyMs;
  const figures: ServerFigures = { calls: server.calls.length, busyMs: simulated.busyMs(), mostBusy: simulated.mostBusy() };
  process.send?.(figures);
});
process.on('disconnect', () => process.exit());
process.send?.({ port: server.port });
