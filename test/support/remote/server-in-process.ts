/** The fake server in a process of its own, for measurements: its work does not count for the client. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface ServerFigures {
  readonly calls: number;
  /** Time that simulated slots were busy, in ms, and the most that were busy at once. */
  readonly busyMs: number;
  readonly mostBusy: number;
}

export interface ServerInProcess {
  readonly address: string;
  readonly port: number;
  /** Sets the time that each call takes longer. @returns the figures so far. */
  setLatency(latencyMs: number): Promise<ServerFigures>;
  close(): void;
}

export interface ServerKind {
  /** 'none': the server executes nothing. 'processes': it runs commands. 'simulated': `slots` workers that only wait as long as parts take. */
  readonly workers: 'none' | 'processes' | 'simulated';
  readonly slots: number;
}

export async function startServerInProcess(kind: ServerKind = { workers: 'none', slots: 0 }): Promise<ServerInProcess> {
  const main = fileURLToPath(new URL('./server-process.js', import.meta.url));
  const child = fork(main, [kind.workers, String(kind.slots)], { execArgv: ['--max-old-space-size=3000'] });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    port,
    address: `grpc://127.0.0.1:${port}/main`,
    async setLatency(latencyMs) {
      child.send({ latencyMs });
      const [figures] = (await once(child, 'message')) as [ServerFigures];
      return figures;
    },
    close: () => child.disconnect(),
  };
}
