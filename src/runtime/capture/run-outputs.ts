/** Runs a whole model as it is captured, without graph optimization and declared sizes, for its outputs alone. */
import { getDefined } from '../../base/invariant.js';
import { getValue } from '../../onnx/ir/edit.js';
import type { Model, Value } from '../../onnx/ir/model.js';
import { encodeModel } from '../../onnx/serde/encode-model.js';
import { decodeRawTensor } from '../../tensor/raw-tensor.js';
import type { Tensor } from '../../tensor/tensor.js';
import type { NamedTensors } from '../session/model-inputs.js';
import { openSession, type Session } from '../session/session.js';
import { CAPTURE_SESSION } from './capture.js';
import { makeSegment, segmentModel } from './segments.js';

export interface OutputRunner {
  /** @returns the outputs in their order; inputs among them are those given, and constants those of the model. @throws RuntimeError `model-load`, `model-run`. */
  run(feeds: NamedTensors): Promise<readonly (Tensor | undefined)[]>;
  close(): Promise<void>;
}

/** The nodes of `model` must be in topological order. The session is opened on first use. */
export function openOutputs(model: Model): OutputRunner {
  const { graph } = model;
  const whole = makeSegment(graph, [...graph.nodes.values()]);
  const computed = graph.outputs.filter(id => getValue(graph, id).producer !== undefined);
  let session: Session | undefined;
  const nameOf = (id: (typeof computed)[number]): string => getValue(graph, id).name;
  return {
    async run(feeds) {
      const given = new Map(whole.reads.map(id => [id, getDefined(feeds[nameOf(id)], `input ${nameOf(id)}`)]));
      session ??= await openSession(
        encodeModel(segmentModel(model, { ...whole, computes: [...new Set(computed)] }, id => getDefined(given.get(id), 'input'))),
        CAPTURE_SESSION,
      );
      const results = await session.run(Object.fromEntries([...given].map(([id, tensor]) => [nameOf(id), tensor])));
      return graph.outputs.map(id => results[nameOf(id)] ?? feeds[nameOf(id)] ?? constantOf(getValue(graph, id)));
    },
    close: async () => session?.close(),
  };
}

function constantOf({ constant }: Value): Tensor | undefined {
  return constant === undefined || constant.dtype === 'string' ? constant : decodeRawTensor(constant);
}
