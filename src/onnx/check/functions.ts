/** Decoding of the model-local functions, which the IR keeps as bytes, for the checks of their bodies and calls. */

import { subgraphsOf } from '../ir/edit.js';
import type { Graph, Model, Node, UnknownFields } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { decodeMessage } from '../proto/codec/decode-message.js';
import { WHOLE_SCHEMA } from '../proto/codec/schema.js';
import type { FunctionProto } from '../proto/generated/messages.js';
import { decodeDomain, decodeGraph } from '../serde/decode-graph.js';
import { toSafeInteger } from '../serde/malformed.js';
import type { Report } from './problem.js';

export interface ModelFunction {
  /** The name by which nodes call it, for example "pkg.Attention". */
  readonly name: string;
  readonly opsets: ReadonlyMap<string, number>;
  /** Inputs, nodes and outputs as a graph; the inputs have no types. */
  readonly body: Graph;
  /** Names of its attributes, with and without defaults. */
  readonly attributes: ReadonlySet<string>;
}

export type ModelFunctions = ReadonlyMap<string, ModelFunction>;

/** The name by which a node calls a function; the domain '' is "ai.onnx". */
export function callNameOf({ domain, opType, overload }: Pick<Node, 'domain' | 'opType' | 'overload'>): string {
  return [domain === '' ? 'ai.onnx' : domain, opType, overload].filter(Boolean).join('.');
}

interface Read {
  readonly functions: ModelFunctions;
  readonly problems: readonly Parameters<Report>[];
}

/** Decoded functions by the uninterpreted fields of the model. */
const known = new WeakMap<UnknownFields, Read>();

/** The functions of `model`. Reports functions that are malformed, duplicate or recursive. */
export function readFunctions(model: Model, report: Report): ModelFunctions {
  const read = known.get(model.unknown) ?? readAll(model.unknown);
  known.set(model.unknown, read);
  for (const problem of read.problems) report(...problem);
  return read.functions;
}

function readAll(fields: UnknownFields): Read {
  const functions = new Map<string, ModelFunction>();
  const problems: Parameters<Report>[] = [];
  for (const bytes of fields) {
    try {
      const source = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      for (const proto of decodeMessage(WHOLE_SCHEMA, 'ModelProto', bytes).functions ?? []) {
        const found = decodeFunction(proto, source);
        if (functions.has(found.name)) problems.push(['duplicate-function', `the model has the function ${found.name} twice`]);
        functions.set(found.name, found);
      }
    } catch (error) {
      if (!(error instanceof OnnxError)) throw error;
      problems.push(['malformed-field', `the model has a malformed function or field: ${error.message}`]);
    }
  }
  const cycle = findCallCycle(functions);
  if (cycle !== undefined) problems.push(['function-cycle', `functions call each other in a cycle: ${formatCycle(cycle)}`]);
  return { functions, problems };
}

/** Content of external tensors, which is not needed because their types are in the message. */
const NO_BYTES = new Uint8Array(0);

function decodeFunction(proto: FunctionProto, source: Uint8Array): ModelFunction {
  const { name = '', input = [], output = [], node, valueInfo, attribute = [], attributeProto = [], opsetImport = [] } = proto;
  const domain = decodeDomain(proto.domain);
  let nextId = 1;
  const ends = (names: readonly string[]): { name: string }[] => names.map(end => ({ name: end }));
  const body = decodeGraph(
    { name: `function ${name}`, node, valueInfo, input: ends(input), output: ends(output) },
    { source, takeId: () => nextId++, readExternal: (_, { dtype, dims }) => ({ dtype, dims, bytes: NO_BYTES }) },
    undefined,
  );
  return {
    name: callNameOf({ domain, opType: name, overload: proto.overload ?? '' }),
    opsets: new Map(
      opsetImport.map(({ domain, version }) => [decodeDomain(domain), toSafeInteger(version ?? 0n, 'an operator set version')]),
    ),
    body,
    attributes: new Set([...attribute, ...attributeProto.map(({ name = '' }) => name)]),
  };
}

/** A long cycle is abbreviated in the middle. */
function formatCycle(names: readonly string[]): string {
  return (names.length <= 10 ? names : [...names.slice(0, 5), `${names.length - 8} more`, ...names.slice(-3)]).join(' → ');
}

/** Names of functions of which each calls the next; the last name equals the first. */
function findCallCycle(functions: ModelFunctions): readonly string[] | undefined {
  const calls = new Map([...functions].map(([name, { body }]) => [name, [...new Set(callsIn(body))].filter(call => functions.has(call))]));
  const done = new Set<string>();
  for (const root of functions.keys()) {
    const path: { readonly name: string; readonly next: Iterator<string> }[] = [];
    const open = new Set<string>();
    const enter = (name: string): void => {
      path.push({ name, next: (calls.get(name) ?? []).values() });
      open.add(name);
    };
    if (!done.has(root)) enter(root);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const step = top.next.next();
      if (step.done === true) {
        done.add(top.name);
        open.delete(top.name);
        path.pop();
      } else if (open.has(step.value)) {
        const names = path.map(({ name }) => name);
        return [...names.slice(names.indexOf(step.value)), step.value];
      } else if (!done.has(step.value)) enter(step.value);
    }
  }
  return undefined;
}

function* callsIn(graph: Graph): Generator<string> {
  for (const node of graph.nodes.values()) {
    yield callNameOf(node);
    for (const sub of subgraphsOf(node)) yield* callsIn(sub);
  }
}
