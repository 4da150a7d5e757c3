/** The process that `onnx.ts` measures: performs one operation on a model file, and reports time and its own memory. */
import { checkModel } from '../src/onnx/check/check-model.js';
import { simplifyToFixedPoint } from '../src/onnx/passes/simplify.js';
import { readModel, writeModel } from '../src/onnx/serde/model-file.js';
import { inferShapes } from '../src/onnx/shape-inference/infer-shapes.js';
import { evaluate } from '../src/runtime/session/evaluate.js';
import { readPeak } from './peak.js';

export const ONNX_WAYS = ['read', 'copy', 'infer', 'check', 'simplify'] as const;
export type OnnxWay = (typeof ONNX_WAYS)[number];

export interface OnnxOrder {
  readonly way: OnnxWay;
  readonly path: string;
  /** The path that 'copy' writes to. */
  readonly copy: string;
}

export interface OnnxMeasured {
  readonly ms: number;
  /** Memory with all modules loaded. */
  readonly idleBytes: number;
  readonly peakBytes: number;
}

async function measure({ way, path, copy }: OnnxOrder): Promise<OnnxMeasured> {
  const idleBytes = process.memoryUsage.rss();
  const model = way === 'infer' || way === 'check' || way === 'simplify' ? await readModel(path) : undefined;
  const start = performance.now();
  if (model === undefined) {
    const read = await readModel(path);
    if (way === 'copy') await writeModel(copy, read);
  } else if (way === 'infer') inferShapes(model);
  else if (way === 'check') checkModel(model);
  else
    await simplifyToFixedPoint(model, {
      evaluate,
      foldLimitBytes: 1 << 20,
      check: graph => checkModel(graph).map(({ message }) => message),
    });
  return { ms: performance.now() - start, idleBytes, peakBytes: await readPeak() };
}

const [, , text] = process.argv;
if (process.send !== undefined && text !== undefined) process.send(await measure(JSON.parse(text) as OnnxOrder));
