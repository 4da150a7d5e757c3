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

export async function startBenchServer(): Promise<BenchServer> {
  const child = fork(fileURLToPath(new URL('./server-process.js', import.meta.url)), { execArgv: ['--max-old-space-size=3000'] });
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
