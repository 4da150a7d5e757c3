/** SQNR of a quantized model's outputs by ONNX Runtime alone, without the code that `verify` compares with. */
import { openSession } from '../../src/runtime/session/session.js';
import { type Comparison, compareArrays, mergeComparisons, NO_COMPARISON, sqnrDbOf } from '../../src/tensor/compare.js';
import type { Tensor } from '../../src/tensor/tensor.js';

/** 10·log10(Σx² / Σ(x − q)²) of each output over all feeds. @param float, int8 paths of the models. */
export async function measureSqnr(
  float: string,
  int8: string,
  feeds: Iterable<Readonly<Record<string, Tensor>>> | AsyncIterable<Readonly<Record<string, Tensor>>>,
): Promise<Record<string, number>> {
  const [x, q] = [await openSession(float, { optimization: 'all' }), await openSession(int8, { optimization: 'all' })];
  const sums: Record<string, Comparison> = {};
  for await (const feed of feeds) {
    const [exact, quantized] = [await x.run(feed), await q.run(feed)];
    for (const name of x.outputNames) {
      const [a, b] = [exact[name], quantized[name]];
      if (a?.dtype !== 'float32' || b?.dtype !== 'float32') throw new Error(`output ${name} is no float32`);
      sums[name] = mergeComparisons(sums[name] ?? NO_COMPARISON, compareArrays(a.data, b.data));
    }
  }
  await x.close();
  await q.close();
  return Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sqnrDbOf(sum)]));
}
