/** Observations that a run on a board proves, and a user's profile with them. */

import { toJsonObject } from '../../base/json/to-json.js';
import { isJsonList, isJsonObject, type Json, type JsonObject } from '../../base/json.js';
import { chooseTarget, type Target } from '../profile/choose-target.js';
import type { Observation } from '../profile/observation.js';
import { TargetError } from '../report/target-error.js';
import { addTo, type BoardGraph, isQdq } from './board-graph.js';
import { countPlaces, type Explained, type ExplainedNode } from './board-report.js';
import type { Evidence } from './evidence.js';

export interface LearnRequest {
  /** Parsed and complete: the user's profile, or the built-in one to begin with. */
  readonly profile: Json;
  readonly choice: { readonly device?: string; readonly dtype: string; readonly version: string };
  /** "2026-11-23". */
  readonly date: string;
  /** SHA-256 of the files. */
  readonly digest: string;
}

export interface Learned {
  readonly profile: JsonObject;
  readonly observations: readonly Observation[];
  /** Operators about which the run proves nothing, and why. */
  readonly unproved: readonly { readonly op: string; readonly why: string }[];
  /** Observations of the profile with another outcome for the same device, version and data type. They stay. */
  readonly contradicted: readonly { readonly op: string; readonly outcome: string; readonly by: string; readonly was: string }[];
}

/** @throws TargetError `board-unproved` if the run proves nothing about single operators; `board-device`; as `chooseTarget`. */
export function learn(evidence: Evidence, explained: Explained, request: LearnRequest): Learned {
  const device = chooseDevice(evidence.targets, request.choice.device);
  const target = chooseTarget(request.profile, { ...request.choice, ...(device === undefined ? {} : { device }) });
  assertProves(evidence, explained);
  const verdicts = judgeOperators(explained);
  const fresh = verdicts.flatMap(verdict => (verdict.outcome === undefined ? [] : [observe(verdict, target, evidence, request)]));
  const domain = observeDomain(explained, target, evidence, request);
  const own = isJsonObject(request.profile) ? request.profile : {};
  const before = listOf(own.observations);
  const observations = [...fresh, ...domain].map(one => combine(before, one));
  const names = new Set(observations.map(({ name }) => name));
  const profile: JsonObject = {
    ...own,
    sources: { ...(isJsonObject(own.sources) ? own.sources : {}), [sourceKey(request)]: describeSource(evidence, request) },
    observations: [...before.filter(one => !isJsonObject(one) || !names.has(String(one.name))), ...observations.map(toJsonObject)],
  };
  return {
    profile,
    observations,
    unproved: verdicts.flatMap(({ op, why }) => (why === undefined ? [] : [{ op, why }])),
    contradicted: findContradictions(target, observations),
  };
}

function listOf(json: Json | undefined): readonly Json[] {
  return isJsonList(json) ? json : [];
}

/** AMD_AIE2P_…: XDNA 2. AMD_AIE2_…: XDNA. */
function chooseDevice(targets: readonly string[], given: string | undefined): string | undefined {
  const seen = new Set(targets.map(target => (target.startsWith('AMD_AIE2P') ? 'stx-krk' : 'phx-hpt')));
  const [found] = seen;
  if (seen.size > 1 || (given !== undefined && found !== undefined && given !== found)) {
    const device = given ?? 'one device';
    throw new TargetError('board-device', `the model was compiled for ${targets.join(' and ')}, which is not ${device}`, {
      help: 'compile it for the device of the machine: such a run proves nothing about it',
    });
  }
  return given ?? found;
}

/** A model that is off the NPU as a whole does not tell which operator is the cause. */
function assertProves({ assignment }: Evidence, { nodes }: Explained): void {
  const help = 'look at the reasons for the whole model first';
  if (assignment === undefined)
    throw new TargetError('board-unproved', 'no file says where nodes ran', { help: 'add vitisai_ep_report.json' });
  if (countPlaces(nodes).npu === 0)
    throw new TargetError('board-unproved', 'no node ran on the NPU, which no single operator explains', { help });
  if (!nodes.some(({ node }) => node.opType === 'DequantizeLinear'))
    throw new TargetError('board-unproved', 'the model has no Q and DQ, so the run says nothing about a data type of integers', { help });
  const { NPU: planned, 'Actually running on NPU': running } = assignment.subgraphs;
  if (planned === undefined || running === undefined || running >= planned) return;
  throw new TargetError('board-unproved', `only ${running} of ${planned} subgraphs for the NPU really run there`, { help });
}

interface Verdict {
  readonly op: string;
  readonly outcome?: 'npu' | 'cpu' | 'mixed';
  readonly note: string;
  /** Why there is no outcome. */
  readonly why?: string;
}

function judgeOperators({ nodes, graph }: Explained): readonly Verdict[] {
  const groups = new Map<string, ExplainedNode[]>();
  const unnamed: Verdict[] = [];
  for (const one of nodes) {
    if (one.node.domain !== '' || isQdq(one.node) || one.node.opType === 'Constant') continue;
    const op = graph.limitName(one.node);
    if (op !== undefined) addTo(groups, op, one);
    else if (unnamed.length === 0)
      unnamed.push({ op: 'Conv', note: '', why: 'the report lacks shapes of weights, so that Conv and DepthwiseConv look alike' });
  }
  return [...[...groups].map(([op, group]) => judge(op, group, graph)), ...unnamed];
}

function judge(op: string, nodes: readonly ExplainedNode[], graph: BoardGraph): Verdict {
  const onNpu = nodes.filter(({ node }) => node.place === 'npu').length;
  const off = nodes.filter(({ node }) => node.place !== 'npu');
  const causes = off.filter(one => isCause(one, graph));
  const note = describeCounts(onNpu, off, nodes.length);
  if (off.length === 0) return { op, outcome: 'npu', note };
  if (onNpu > 0) return { op, outcome: 'mixed', note };
  if (causes.length > 0) return { op, outcome: 'cpu', note };
  const particular = off.some(({ reasons }) => reasons.some(({ kind }) => kind === 'conversion'));
  return {
    op,
    note,
    why: particular
      ? 'the reason is about shapes, attributes or parameters of these nodes, not about the operator'
      : 'nothing says that it is the cause: its neighbors are on the CPU too, or it computes in float',
  };
}

/**
 * A quantized node that the compiler named, or that is alone on the CPU between nodes on the NPU.
 * A conversion that was cancelled is about one node's shape or attributes, and a node in float says nothing about integers.
 */
function isCause({ node, reasons }: ExplainedNode, graph: BoardGraph): boolean {
  if (!graph.isQuantized(node) || reasons.some(({ kind }) => kind === 'conversion')) return false;
  if (reasons.some(({ kind }) => kind === 'partitioner' || kind === 'unsupported')) return true;
  const neighbors = [graph.producers(node), graph.consumers(node)];
  return neighbors.every(side => side.length > 0 && side.every(({ place }) => place === 'npu'));
}

function describeCounts(onNpu: number, off: readonly ExplainedNode[], all: number): string {
  const texts = [...new Set(off.flatMap(({ reasons }) => reasons.map(({ text }) => text)))].slice(0, 3);
  const alone = off.length > 0 && texts.length === 0 ? ' (no reason given)' : '';
  return `${onNpu} of ${all} on the NPU${alone}${texts.length === 0 ? '' : `: ${texts.join('; ')}`}.`;
}

function observe({ op, outcome = 'mixed', note }: Verdict, target: Target, evidence: Evidence, request: LearnRequest): Observation {
  return { ...scopeOf(op, target, evidence, request, note), subject: { kind: 'operator', ops: [op] }, outcome };
}

/** Q and DQ of com.microsoft on the NPU. */
function observeDomain({ nodes }: Explained, target: Target, evidence: Evidence, request: LearnRequest): readonly Observation[] {
  const foreign = nodes.filter(({ node }) => isQdq(node) && node.domain === 'com.microsoft' && node.place === 'npu').length;
  if (foreign === 0) return [];
  const note = `${foreign} Q and DQ of domain com.microsoft on the NPU.`;
  return [
    { ...scopeOf('com-microsoft', target, evidence, request, note), subject: { kind: 'form', form: 'com.microsoft' }, outcome: 'npu' },
  ];
}

function scopeOf(
  what: string,
  { identity: { device, dtype, version } }: Target,
  { context }: Evidence,
  request: LearnRequest,
  note: string,
): Omit<Observation, 'subject' | 'outcome'> {
  const kebab = what.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();
  return {
    name: `own-${kebab}-${device}-${dtype}-${version.replaceAll('.', '-')}`,
    devices: [device],
    versions: [version],
    dtypes: [dtype],
    date: request.date,
    source: sourceKey(request),
    note: `${context?.model ?? 'A model'}: ${note}`,
  };
}

/** A second run with another outcome makes it mixed. The same run again changes nothing. */
function combine(before: readonly Json[], one: Observation): Observation {
  const earlier = before.find(other => isJsonObject(other) && other.name === one.name);
  if (!isJsonObject(earlier) || typeof earlier.note !== 'string') return one;
  const note = earlier.note.includes(one.note) ? earlier.note : `${earlier.note} ${one.note}`;
  return { ...one, note, outcome: earlier.outcome === one.outcome ? one.outcome : 'mixed' };
}

function sourceKey({ digest }: LearnRequest): string {
  return `own-board-${digest.slice(0, 12)}`;
}

function describeSource({ context }: Evidence, { digest, date }: LearnRequest): JsonObject {
  return { kind: 'user', title: `Own board, ${context?.model ?? 'a model'}, ${date}`, ref: `files of the run, sha256:${digest}` };
}

function findContradictions(target: Target, observations: readonly Observation[]): Learned['contradicted'] {
  return observations.flatMap(({ name, subject, outcome }) => {
    if (subject.kind !== 'operator') return [];
    const [op = ''] = subject.ops;
    const others = target.observations.filter(
      other =>
        other.seen === 'exactly' &&
        other.name !== name &&
        other.subject.kind === 'operator' &&
        other.subject.ops.includes(op) &&
        other.outcome !== outcome,
    );
    return others.map(other => ({ op, outcome, by: other.name, was: other.outcome }));
  });
}
