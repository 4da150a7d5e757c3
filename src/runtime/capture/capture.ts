/** Runs a model and visits every intermediate tensor, one after another, in bounded memory. */
import { getDefined } from '../../base/invariant.js';
import { getValue } from '../../onnx/ir/edit.js';
import type { Model, Value, ValueId } from '../../onnx/ir/model.js';
import { encodeModel } from '../../onnx/serde/encode-model.js';
import type { Tensor } from '../../tensor/tensor.js';
import { RuntimeError } from '../session/runtime-error.js';
import { openSession, type Session, type SessionOptions } from '../session/session.js';
import { cutSegments, type GivenType, type Segment, segmentModel } from './segments.js';

export interface CaptureOptions {
  /** Budget in bytes for the intermediate tensors of one segment, in addition to tensors that later nodes need. */
  readonly budgetBytes: number;
  /** The size assumed for a free dimension when the budget is divided. */
  readonly freeDim: number;
  /** Threads inside one operator, as `SessionOptions.threads`; default 1. For comparisons with records of other programs. */
  readonly threads?: number;
  /** The values to visit; default: all. Others leave ONNX Runtime only if a later segment reads them. Does not change the tensors. */
  readonly visited?: ReadonlySet<ValueId>;
}

/** Graph optimization is off, so that every value of the graph exists and results do not depend on the segments. */
export const CAPTURE_SESSION: SessionOptions = { optimization: 'disabled', memoryArena: 'none' };

export type Visit = (value: Value, tensor: Tensor) => void | Promise<void>;

export interface Capture {
  /**
   * Runs the model once on `feeds` (by input name). Visits the inputs and then the computed tensors in graph order: all, or those of `visited`. `visit` must
   * not keep a tensor; the run continues when the promise that it returns is settled.
   * @throws RuntimeError `missing-input`, `model-run`.
   */
  run(feeds: Readonly<Record<string, Tensor>>, visit: Visit): Promise<void>;
  close(): Promise<void>;
}

/**
 * Prepares `model` for running segment by segment: each node runs once per run. Nodes must be in topological order.
 * Sessions are opened on first use and kept until `close`.
 */
export function openCapture(model: Model, options: CaptureOptions): Capture {
  const { graph } = model;
  const all = cutSegments(graph, options);
  const lastReader = new Map<ValueId, number>();
  for (const [index, { reads }] of all.entries()) for (const id of reads) lastReader.set(id, index);
  const isVisited = (id: ValueId): boolean => options.visited?.has(id) ?? true;
  const segments = all.map((segment, index) => withoutUnused(segment, id => isVisited(id) || (lastReader.get(id) ?? index) > index));
  const sessions: Session[] = [];

  const openSegment = async (segment: Segment, live: ReadonlyMap<ValueId, Tensor>): Promise<Session> => {
    const typeOf = (id: ValueId): GivenType => {
      const { dtype, dims } = getDefined(live.get(id), `tensor of "${getValue(graph, id).name}"`);
      return { dtype, dims };
    };
    const threads = options.threads === undefined ? {} : { threads: options.threads };
    return openSession(encodeModel(segmentModel(model, segment, typeOf)), { ...CAPTURE_SESSION, ...threads });
  };

  return {
    async run(feeds, visit) {
      const live = new Map<ValueId, Tensor>();
      for (const id of graph.inputs) {
        const value = getValue(graph, id);
        if (value.constant !== undefined) continue;
        const tensor = feeds[value.name];
        if (tensor === undefined) throw new RuntimeError('missing-input', `input "${value.name}" is missing`);
        if (isVisited(id)) await visit(value, tensor);
        if (lastReader.has(id)) live.set(id, tensor);
      }
      for (const [index, segment] of segments.entries()) {
        const session = sessions[index] ?? (await openSegment(segment, live));
        sessions[index] = session;
        const results = await session.run(nameTensors(model, segment.reads, live));
        for (const id of segment.computes) {
          const value = getValue(graph, id);
          const tensor = getDefined(results[value.name], `result "${value.name}"`);
          if (isVisited(id)) await visit(value, tensor);
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

/** Its outputs are those that are used; a model needs one, so that each node still runs. */
function withoutUnused(segment: Segment, isUsed: (id: ValueId) => boolean): Segment {
  const used = segment.computes.filter(isUsed);
  return { ...segment, computes: used.length > 0 ? used : segment.computes.slice(-1) };
}

function nameTensors(model: Model, ids: readonly ValueId[], live: ReadonlyMap<ValueId, Tensor>): Record<string, Tensor> {
  return Object.fromEntries(ids.map(id => [getValue(model.graph, id).name, getDefined(live.get(id), 'live tensor')]));
}
