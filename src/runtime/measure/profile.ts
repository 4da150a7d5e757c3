/** Reads ONNX Runtime's profile: time per node and per operator. */
import type { Json } from '../../base/json.js';
import { isJsonObject } from '../../base/json.js';
import { anyList, anyText, integer, number, openObject, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { RuntimeError } from '../session/runtime-error.js';

const NODE_PROFILE = openObject({
  node: anyText('The name in the graph that ONNX Runtime optimized.'),
  opType: text(),
  provider: anyText(),
  meanMs: number({ minimum: 0 }, 'Mean per run.'),
});

type NodeProfile = FromSchema<typeof NODE_PROFILE>;

const OPERATOR_PROFILE = openObject({
  opType: text(),
  nodes: integer(1),
  meanMs: number({ minimum: 0 }, 'Mean per run, over all its nodes.'),
  share: number({ minimum: 0, maximum: 1 }, 'Share of the time of all nodes.'),
});

type OperatorProfile = FromSchema<typeof OPERATOR_PROFILE>;

/** Nodes and operators by descending time. */
export const MODEL_PROFILE_SCHEMA = openObject({
  runs: integer(1, 'Number of counted runs.'),
  operators: anyList(OPERATOR_PROFILE),
  nodes: anyList(NODE_PROFILE),
});

export type ModelProfile = FromSchema<typeof MODEL_PROFILE_SCHEMA>;

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
  return { runs, operators: groupByOperator(nodes), nodes: nodes.sort((a, b) => b.meanMs - a.meanMs) };
}

function groupByOperator(nodes: readonly NodeProfile[]): readonly OperatorProfile[] {
  const total = nodes.reduce((sum, { meanMs }) => sum + meanMs, 0);
  const groups = new Map<string, { nodes: number; meanMs: number }>();
  for (const { opType, meanMs } of nodes) {
    const group = groups.get(opType) ?? { nodes: 0, meanMs: 0 };
    groups.set(opType, { nodes: group.nodes + 1, meanMs: group.meanMs + meanMs });
  }
  return [...groups]
    .map(([opType, group]) => ({ opType, ...group, share: total === 0 ? 0 : Math.min(1, group.meanMs / total) }))
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
