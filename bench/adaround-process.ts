/** The process that `adaround.ts` measures: runs `round-weights` by AdaRound on a quantized model, and reports its own memory. */
import { join } from 'node:path';
import { roundWeights } from '../stages/round-weights/stage.js';
import { runStage } from '../test/support/run-stage.js';
import { storingMemo } from '../test/support/storing-memo.js';
import { readPeak } from './peak.js';

export interface AdaRoundOrder {
  readonly folder: string;
  readonly float: string;
  readonly quantized: string;
  readonly captured: string;
}

export interface AdaRoundMeasured {
  readonly ms: number;
  /** Processor time of all threads. Other load on the machine affects it less. */
  readonly cpuMs: number;
  readonly peakBytes: number;
  /** Path of the stage's report. */
  readonly report: string;
}

async function measure({ folder, float, quantized, captured }: AdaRoundOrder): Promise<AdaRoundMeasured> {
  const parts = join(folder, 'parts');
  const [start, cpuStart] = [performance.now(), process.cpuUsage()];
  const { outputs } = await runStage(roundWeights, {
    folder,
    params: { method: 'adaround' },
    inputs: { model: quantized, float, captured },
    memo: storingMemo({ path: parts }).memo,
  });
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpuStart);
  return { ms, cpuMs: (user + system) / 1000, peakBytes: await readPeak(), report: outputs.report ?? '' };
}

const [, , text] = process.argv;
if (process.send !== undefined && text !== undefined) process.send(await measure(JSON.parse(text) as AdaRoundOrder));
