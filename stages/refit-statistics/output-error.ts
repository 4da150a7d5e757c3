/** The SQNR of each output of a model against the reference, over the captured samples. */
import { getValue } from '../../src/onnx/ir/edit.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { encodeModel } from '../../src/onnx/serde/encode-model.js';
import { CAPTURE_SESSION } from '../../src/runtime/capture/capture.js';
import { openSession, type Session } from '../../src/runtime/session/session.js';
import { type Comparison, compareArrays, mergeComparisons, NO_COMPARISON, sqnrDbOf } from '../../src/tensor/compare.js';
import type { RefitSamples } from './samples.js';

/** In dB by output name; null without error. */
export type OutputSqnr = Readonly<Record<string, number | null>>;

export async function measureOutputs(reference: Model, models: Readonly<Record<'before' | 'after', Model>>, samples: RefitSamples) {
  return { before: await compareModels(reference, models.before, samples), after: await compareModels(reference, models.after, samples) };
}

async function compareModels(reference: Model, model: Model, samples: RefitSamples): Promise<OutputSqnr> {
  const [own, other] = [await open(reference), await open(model)];
  const [feeds, otherFeeds] = [samples.feedsOf(reference), samples.feedsOf(model)];
  const sums = new Map<string, Comparison>();
  for (const [index, read] of feeds.entries()) {
    const [wanted, found] = [await own.run(await read()), await other.run((await otherFeeds[index]?.()) ?? {})];
    for (const [position, id] of reference.graph.outputs.entries()) {
      const { name } = getValue(reference.graph, id);
      const partner = model.graph.outputs[position];
      const [a, b] = [wanted[name], partner === undefined ? undefined : found[getValue(model.graph, partner).name]];
      if (a?.dtype === 'float32' && b?.dtype === 'float32' && a.data.length === b.data.length)
        sums.set(name, mergeComparisons(sums.get(name) ?? NO_COMPARISON, compareArrays(a.data, b.data)));
    }
  }
  await Promise.all([own.close(), other.close()]);
  return Object.fromEntries([...sums].map(([name, sum]) => [name, finite(sqnrDbOf(sum))]));
}

const open = (model: Model): Promise<Session> => openSession(encodeModel(model), CAPTURE_SESSION);

function finite(sqnr: number | string): number | null {
  return typeof sqnr === 'number' && Number.isFinite(sqnr) ? sqnr : null;
}
