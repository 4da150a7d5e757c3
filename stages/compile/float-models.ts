/** Models of float data types: without the nodes that simulate the device, and with the errors that its arithmetic may have. */
import { getValue } from '../../src/onnx/ir/edit.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { encodeModel } from '../../src/onnx/serde/encode-model.js';
import { FLOAT_FORMATS } from '../../src/quant/simulate/floats/float-format.js';
import { ROUNDING_PREFIX, roundModel, withoutRounding } from '../../src/quant/simulate/floats/rounded-model.js';
import { openSession } from '../../src/runtime/session/session.js';
import { GOLDEN_OPTIMIZATION, type GoldenFeeds } from '../../src/target/bundle/golden.js';
import { compareArrays, sqnrDbOf } from '../../src/tensor/compare.js';

/** `model` itself if it has no nodes that round. */
export function withoutSimulation(model: Model): Model {
  const isRounded = [...model.graph.nodes.values()].some(({ name }) => name.startsWith(ROUNDING_PREFIX));
  return isRounded ? withoutRounding(model) : model;
}

/** Twice the simulated error: kernels add in other orders. */
const MARGIN_DB = 6;

/**
 * Output → the smallest SQNR of BF16 and BFP16 on the golden inputs, less a margin. Which of the two a release computes is not documented.
 * Outputs that are no floats, or have no signal, are left out.
 */
export async function findLeastSqnr(model: Model, feeds: readonly GoldenFeeds[]): Promise<Readonly<Record<string, number>>> {
  const names = model.graph.outputs.map(id => getValue(model.graph, id).name);
  const wanted = await runAll(model, feeds);
  const least = new Map<string, number>();
  for (const format of FLOAT_FORMATS) {
    for (const [index, found] of (await runAll(roundModel(model, format), feeds)).entries()) {
      for (const name of names) {
        const [right, own] = [wanted[index]?.[name], found[name]];
        if (right?.dtype !== 'float32' || own?.dtype !== 'float32') continue;
        const sqnr = sqnrDbOf(compareArrays(right.data, own.data));
        if (Number.isFinite(sqnr)) least.set(name, Math.min(sqnr, least.get(name) ?? Number.POSITIVE_INFINITY));
      }
    }
  }
  return Object.fromEntries([...least].map(([name, sqnr]) => [name, Number((sqnr - MARGIN_DB).toFixed(1))]));
}

async function runAll(model: Model, feeds: readonly GoldenFeeds[]): Promise<readonly GoldenFeeds[]> {
  const session = await openSession(encodeModel(model), { optimization: GOLDEN_OPTIMIZATION });
  try {
    const results: GoldenFeeds[] = [];
    for (const one of feeds) results.push(await session.run(one));
    return results;
  } finally {
    await session.close();
  }
}
