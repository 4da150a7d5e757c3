/** The server of the measurements: a cache in memory in a process of its own. The parent sets its latency, and asks for its number of calls. */
import { startFakeServer } from '../../test/support/remote/fake-grpc-server.js';

const options = { latencyMs: 0 };
const server = await startFakeServer(options);
process.on('message', ({ latencyMs }: { readonly latencyMs: number }) => {
  options.latencyMs = latencyMs;
  process.send?.({ calls: server.calls.length });
});
process.on('disconnect', () => process.exit());
process.send?.({ port: server.port });
