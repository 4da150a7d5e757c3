/** The server of the measurements: a cache in memory in a process of its own. The parent sets its latency, and asks for its number of calls. */
import { type FakeServerOptions, startFakeServer } from '../../test/support/remote/fake-grpc-server.js';
import { simulateWorkers } from '../../test/support/remote/simulated-worker.js';

/** Workers that wait instead of computing; none by default. */
const slots = Number(process.argv[2] ?? 0);
/** What an action costs on a worker before its first part: Node and the platform class. */
const START_MS = 300;

const options: FakeServerOptions = { latencyMs: 0, ...(slots > 0 ? { worker: simulateWorkers(slots, START_MS).worker } : {}) };
const server = await startFakeServer(options);
process.on('message', ({ latencyMs }: { readonly latencyMs: number }) => {
  options.latencyMs = latencyMs;
  process.send?.({ calls: server.calls.length });
});
process.on('disconnect', () => process.exit());
process.send?.({ port: server.port });
