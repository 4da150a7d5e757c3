/** Reads ONNX Runtime's profile: time per node and per operator. */
import type { Json } from '../../base/json.js';
import { isJsonObject } from '../../base/json.js';
import { RuntimeError } from '../session/session.js';

export interface ModelProfile {
  /** Number of counted runs. */
  readonly runs: number;
  /** By descending time. Names are those of the graph that ONNX Runtime optimized. */
  readonly nodes: readonly NodeProfile[];
  /** Per operator, by descending time. */
  readonly operators: readonly OperatorProfile[];
}

export type NodeProfile = {
  readonly node: string;
  readonly opType: string;
  readonly provider: string;
  /** Mean per run. */
  readonly meanMs: number;
};

export type OperatorProfile = {
  readonly opType: string;
  readonly nodes: number;
  /** Mean per run, over all its nodes. */
  readonly meanMs: number;
  /** Share of the time of all nodes, 0 … 1. */
  readonly share: number;
};

const SUFFIX = '_kernel_time';

interface NodeEvents {
  readonly opType: string;
  readonly provider: string;
  readonly durationsUs: number[];
}

/**
 * Reads a profile of `runs` runs after `warmup` runs, which are not counted.
 * @throws RuntimeError `bad-profile` if it is malformed, or has another number of runs for a node.
 * @see onnxruntime, "Profiling tools": Chrome trace events, category "Node", durations in microseconds.
 */
export function parseProfile(text: string, { warmup, runs }: { readonly warmup: number; readonly runs: number }): ModelProfile {
  const events = new Map<string, NodeEvents>();
  for (const event of parseEvents(text)) {
    if (!isJsonObject(event) || event.cat !== 'Node' || typeof event.name !== 'string' || !event.name.endsWith(SUFFIX)) continue;
    const { dur, args } = event;
    if (typeof dur !== 'number' || !(dur >= 0 && Number.isFinite(dur)) || !isJsonObject(args))
      throw badProfile(`event "${event.name}" has no duration or no args`);
    const node = event.name.slice(0, -SUFFIX.length);
    const { op_name: opType, provider, node_index: index } = args;
    if (typeof opType !== 'string') throw badProfile(`event "${event.name}" does not name an operator`);
    const key = `${String(index)} ${node}`;
    const known = events.get(key) ?? { opType, provider: typeof provider === 'string' ? provider : '', durationsUs: [] };
    known.durationsUs.push(dur);
    events.set(key, known);
  }
  const nodes = [...events].map(([key, { opType, provider, durationsUs }]): NodeProfile => {
    const name = key.slice(key.indexOf(' ') + 1);
    if (durationsUs.length !== warmup + runs) throw badProfile(`node "${name}" ran ${durationsUs.length} times, expected ${warmup + runs}`);
    const counted = durationsUs.slice(warmup);
    return { node: name, opType, provider, meanMs: counted.reduce((sum, us) => sum + us, 0) / counted.length / 1000 };
  });
  if (nodes.length === 0) throw badProfile('it contains no node');
  return { runs, nodes: nodes.sort((a, b) => b.meanMs - a.meanMs), operators: groupByOperator(nodes) };
}

function groupByOperator(nodes: readonly NodeProfile[]): readonly OperatorProfile[] {
  const total = nodes.reduce((sum, { meanMs }) => sum + meanMs, 0);
  const groups = new Map<string, { nodes: number; meanMs: number }>();
  for (const { opType, meanMs } of nodes) {
    const group = groups.get(opType) ?? { nodes: 0, meanMs: 0 };
    groups.set(opType, { nodes: group.nodes + 1, meanMs: group.meanMs + meanMs });
  }
  return [...groups]
    .map(([opType, group]) => ({ opType, ...group, share: total === 0 ? 0 : group.meanMs / total }))
    .sort((a, b) => b.meanMs - a.meanMs);
}

function parseEvents(text: string): readonly Json[] {
  let parsed: Json;
  try {
    parsed = JSON.parse(text) as Json;
  } catch (cause) {
    throw badProfile(`it is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
  if (!Array.isArray(parsed)) throw badProfile('it is not a list of events');
  return parsed;
}

function badProfile(reason: string): RuntimeError {
  return new RuntimeError('bad-profile', `ONNX Runtime's profile cannot be used: ${reason}`, {
    help: 'run the stage with `operators: false`, which omits times per operator',
  });
}
