/** Runs a model over many samples, one stretch of nodes at a time. Values that later nodes read wait in files, or in memory up to a budget. */
import { getDefined, invariant } from '../../base/invariant.js';
import { getValue } from '../../onnx/ir/edit.js';
import type { Model, Node, ValueId } from '../../onnx/ir/model.js';
import { encodeModel } from '../../onnx/serde/encode-model.js';
import type { Tensor } from '../../tensor/tensor.js';
import type { NamedTensors } from '../session/model-inputs.js';
import { openSession, type Session } from '../session/session.js';
import { CAPTURE_SESSION } from './capture.js';
import { makeSegment, readsOf, type Segment, segmentModel } from './segments.js';
import { openWaitingValues } from './waiting-values.js';

export interface SweepRequest {
  readonly model: Model;
  /** Every node, in a topological order. */
  readonly order: readonly Node[];
  /** The inputs of each sample, by name. */
  readonly samples: readonly (() => Promise<NamedTensors>)[];
  /** An empty folder for waiting values. */
  readonly folder: string;
  /** Waiting values of so many bytes stay in memory; default 0, so that one sample is in memory at a time. Does not change results. */
  readonly memoryBytes?: number;
}

export interface Sweep {
  /** Opens the nodes from the end of the last kept stretch up to `end`, an index in `order`. Constants are read now: the model may be edited between stretches. */
  open(end: number, wanted: readonly ValueId[]): Stretch;
  /** Does work with stretches. If it fails, the sessions of those that it left open are closed. */
  during<T>(work: () => Promise<T>): Promise<T>;
}

export interface Stretch {
  /** Runs one sample and returns the wanted values, which its nodes read or compute. @throws RuntimeError `model-load`, `model-run`; the errors of the sample. */
  run(sample: number): Promise<ReadonlyMap<ValueId, Tensor>>;
  /** 'keep': the next stretch starts at this one's end, which needs a run of every sample. 'repeat': it starts where this one did. */
  close(then: 'keep' | 'repeat'): Promise<void>;
}

/** `model` may be edited while no stretch is open, except for its nodes and their order. */
export function openSweep({ model, order, samples, folder, memoryBytes = 0 }: SweepRequest): Sweep {
  const lastReader = new Map<ValueId, number>();
  for (const [index, node] of order.entries()) for (const id of readsOf(node)) lastReader.set(id, index);
  const inputs = new Set(model.graph.inputs);
  const waiting = new Set<ValueId>();
  const unclosed = new Set<OpenOnce>();
  let start = 0;
  const store = openWaitingValues(folder, memoryBytes);

  const readValues = async (ids: readonly ValueId[], sample: number): Promise<Map<ValueId, Tensor>> => {
    const feeds = ids.some(id => inputs.has(id)) ? await getDefined(samples[sample], 'sample')() : {};
    const values = new Map<ValueId, Tensor>();
    for (const id of ids) {
      const { name } = getValue(model.graph, id);
      values.set(id, inputs.has(id) ? getDefined(feeds[name], `input ${name}`) : await store.get(id, sample));
    }
    return values;
  };

  const removeRead = async (end: number): Promise<void> => {
    for (const id of [...waiting].filter(id => (lastReader.get(id) ?? 0) < end)) {
      waiting.delete(id);
      for (const sample of samples.keys()) await store.remove(id, sample);
    }
  };

  return {
    open(end, wanted) {
      invariant(end > start, 'a stretch has nodes');
      const piece = makeSegment(model.graph, order.slice(start, end));
      const later = piece.computes.filter(id => (lastReader.get(id) ?? -1) >= end);
      const reads = new Set(piece.reads);
      const computes = [...new Set([...later, ...wanted.filter(id => !reads.has(id))])];
      const open = openOnce(model, { ...piece, computes });
      unclosed.add(open);
      return {
        async run(sample) {
          const values = await readValues(piece.reads, sample);
          const session = await open(values);
          const results = await session.run(
            Object.fromEntries([...values].map(([id, tensor]) => [getValue(model.graph, id).name, tensor])),
          );
          const resultOf = (id: ValueId): Tensor => getDefined(results[getValue(model.graph, id).name], `result ${id}`);
          for (const id of later) await store.put(id, sample, resultOf(id));
          return new Map(wanted.map(id => [id, values.get(id) ?? resultOf(id)]));
        },
        async close(then) {
          unclosed.delete(open);
          await open.close();
          if (then === 'repeat') return;
          start = end;
          for (const id of later) waiting.add(id);
          await removeRead(end);
        },
      };
    },
    async during(work) {
      try {
        return await work();
      } catch (error) {
        // What closing throws says less than the error.
        await Promise.allSettled([...unclosed].map(open => open.close()));
        unclosed.clear();
        throw error;
      }
    },
  };
}

type OpenOnce = ReturnType<typeof openOnce>;

/** The session of a segment, opened with the types of the first sample's values. */
function openOnce(model: Model, segment: Segment) {
  let session: Session | undefined;
  const open = async (values: ReadonlyMap<ValueId, Tensor>): Promise<Session> => {
    session ??= await openSession(encodeModel(segmentModel(model, segment, id => getDefined(values.get(id), 'value'))), CAPTURE_SESSION);
    return session;
  };
  return Object.assign(open, { close: async () => session?.close() });
}
