/** Runners open sessions: ONNX Runtime on this machine, or an external program for a device. */
import type { Tensor } from '../../tensor/tensor.js';
import { type OpenModel, openSession, type Session, type SessionOptions } from '../session/session.js';
import type { Placement, RunnerIdentity } from './runner-identity.js';

export interface Runner {
  /** Identity of an external runner: device and versions. Undefined for this machine's CPU, which the platform class identifies. */
  readonly identity: RunnerIdentity | undefined;
  /** Opens a model from its path (so that external data is found) or its bytes. @throws RuntimeError `model-load`, and the errors of external runners. */
  open(model: string | Uint8Array, options: SessionOptions): Promise<RunnerSession>;
  /** Closes the runner with all its sessions. */
  close(): Promise<void>;
}

export interface RunnerSession extends Session {
  /** Runs the model `warmup` times, then `repeats` times on the same feeds. Times cover the runs only, by the clock of the machine that runs them. */
  measure(feeds: Readonly<Record<string, Tensor>>, counts: MeasureCounts): Promise<Measurement>;
  /** The devices of the operators in the last run; undefined for this machine's CPU, and before the first run. */
  readonly placement: Placement | undefined;
}

export interface MeasureCounts {
  readonly warmup: number;
  readonly repeats: number;
}

export interface Measurement {
  readonly outputs: Readonly<Record<string, Tensor>>;
  /** One duration per repeat, in order. */
  readonly durationsMs: readonly number[];
}

/** ONNX Runtime in this process. @param openModel opens the models, as they are by default. */
export function openCpuRunner(openModel: OpenModel = openSession): Runner {
  const open = new Set<Session>();
  return {
    identity: undefined,
    async open(model, options) {
      const session = await openModel(model, options);
      open.add(session);
      const close = async (): Promise<void> => {
        if (open.delete(session)) await session.close();
      };
      return { ...session, measure: (feeds, counts) => measureHere(session, feeds, counts), placement: undefined, close };
    },
    async close() {
      const left = [...open];
      open.clear();
      for (const session of left) await session.close();
    },
  };
}

async function measureHere(
  session: Session,
  feeds: Readonly<Record<string, Tensor>>,
  { warmup, repeats }: MeasureCounts,
): Promise<Measurement> {
  for (let run = 0; run < warmup; run++) await session.run(feeds);
  const durationsMs: number[] = [];
  let outputs: Measurement['outputs'] = {};
  for (let run = 0; run < repeats; run++) {
    const started = performance.now();
    outputs = await session.run(feeds);
    durationsMs.push(performance.now() - started);
  }
  return { outputs, durationsMs };
}
