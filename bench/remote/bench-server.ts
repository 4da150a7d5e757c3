/** Starts the server of the measurements. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface BenchServer {
  readonly address: string;
  readonly port: number;
  /** Sets the time that each call takes longer. @returns the number of calls so far. */
  setLatency(latencyMs: number): Promise<number>;
  close(): void;
}

/** @param slots simulated workers; 0: the server executes nothing. */
export async function startBenchServer({ slots = 0 } = {}): Promise<BenchServer> {
  const main = fileURLToPath(new URL('./server-process.js', import.meta.url));
  const child = fork(main, [String(slots)], { execArgv: ['--max-old-space-size=3000'] });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    port,
    address: `grpc://127.0.0.1:${port}/main`,
    async setLatency(latencyMs) {
      child.send({ latencyMs });
      const [{ calls }] = (await once(child, 'message')) as [{ calls: number }];
      return calls;
    },
    close: () => child.disconnect(),
  };
}
