/** The process that `coco-eval.ts` measures: reads a data set and results, evaluates them, and reports time and its own memory. */
import { evaluateCoco } from '../src/detection/coco/evaluate.js';
import type { IouType } from '../src/detection/coco/params.js';
import { readCocoDataset, readCocoResults } from '../src/detection/coco/read-files.js';
import { readPeak } from './peak.js';

export interface CocoOrder {
  readonly truth: string;
  readonly detections: string;
  readonly type: IouType;
}

export interface CocoMeasured {
  readonly readMs: number;
  readonly evaluateMs: number;
  /** Processor time of the whole process so far, including its start. */
  readonly cpuMs: number;
  readonly peakBytes: number;
  readonly AP: number;
}

async function measure({ truth, detections, type }: CocoOrder): Promise<CocoMeasured> {
  const start = performance.now();
  const dataset = await readCocoDataset(truth);
  const results = await readCocoResults(detections, dataset);
  const read = performance.now();
  const { AP } = evaluateCoco(dataset, results, type);
  const evaluateMs = performance.now() - read;
  const { user, system } = process.cpuUsage();
  return { readMs: read - start, evaluateMs, cpuMs: (user + system) / 1000, peakBytes: await readPeak(), AP };
}

console.log(JSON.stringify(await measure(JSON.parse(process.argv[2] ?? '') as CocoOrder)));
