/** What does a model compute on the way? Every intermediate tensor, one after the other, in bounded memory. */
import { getDefined } from '../../base/invariant.js';
import { getValue } from '../../onnx/ir/edit.js';
import type { Model, Value, ValueId } from '../../onnx/ir/model.js';
import { encodeModel } from '../../onnx/serde/encode-model.js';
import type { Tensor } from '../../tensor/tensor.js';
import { openSession, RuntimeError, type Session, type SessionOptions } from '../session/session.js';
import { cutSegments, type GivenType, type Segment, segmentModel } from './segments.js';

export interface CaptureOptions {
  /** Bytes of intermediate tensors that are held at once, beside those that a later node still needs. */
  readonly budgetBytes: number;
  /** What a size that the model leaves free counts as when the budget is divided. */
  readonly freeDim: number;
}

/** Graph optimisation is off, so that every value of the graph exists and no result depends on where the graph is cut. */
export const CAPTURE_SESSION: SessionOptions = { optimization: 'disabled', memoryArena: 'none' };

export type Visit = (value: Value, tensor: Tensor) => void | Promise<void>;

export interface Capture {
  /**
   * Runs the model once on `feeds`, by input name, and hands over inputs and then every computed tensor in graph order. `visit` must not keep a tensor
   * for long; the run goes on when what it returns is settled.
   * @throws RuntimeError `missing-input`, `model-run`.
   */
  run(feeds: Readonly<Record<string, Tensor>>, visit: Visit): Promise<void>;
  close(): Promise<void>;
}

/**
 * Prepares `model`, whose nodes are in topological order, for running piece by piece: each node runs once per run.
 * Sessions are opened on first use and kept until `close`.
 */
export function openCapture(model: Model, options: CaptureOptions): Capture {
  const { graph } = model;
  const segments = cutSegments(graph, options);
  const lastReader = new Map<ValueId, number>();
  for (const [index, { reads }] of segments.entries()) for (const id of reads) lastReader.set(id, index);
  const sessions: Session[] = [];

  const openSegment = async (segment: Segment, live: ReadonlyMap<ValueId, Tensor>): Promise<Session> => {
    const typeOf = (id: ValueId): GivenType => {
      const { dtype, dims } = getDefined(live.get(id), `tensor of "${getValue(graph, id).name}"`);
      return { dtype, dims };
    };
    return openSession(encodeModel(segmentModel(model, segment, typeOf)), CAPTURE_SESSION);
  };

  return {
    async run(feeds, visit) {
      const live = new Map<ValueId, Tensor>();
      for (const id of graph.inputs) {
        const value = getValue(graph, id);
        if (value.constant !== undefined) continue;
        const tensor = feeds[value.name];
        if (tensor === undefined) throw new RuntimeError('missing-input', `input "${value.name}" is not given`);
        await visit(value, tensor);
        if (lastReader.has(id)) live.set(id, tensor);
      }
      for (const [index, segment] of segments.entries()) {
        const session = sessions[index] ?? (await openSegment(segment, live));
        sessions[index] = session;
        const results = await session.run(nameTensors(model, segment.reads, live));
        for (const id of segment.computes) {
          const value = getValue(graph, id);
          const tensor = getDefined(results[value.name], `result "${value.name}"`);
          await visit(value, tensor);
          if ((lastReader.get(id) ?? index) > index) live.set(id, tensor);
        }
        for (const id of segment.reads) if (lastReader.get(id) === index) live.delete(id);
      }
    },
    async close() {
      for (const session of sessions.splice(0)) await session.close();
    },
  };
}

function nameTensors(model: Model, ids: readonly ValueId[], live: ReadonlyMap<ValueId, Tensor>): Record<string, Tensor> {
  return Object.fromEntries(ids.map(id => [getValue(model.graph, id).name, getDefined(live.get(id), 'live tensor')]));
}
