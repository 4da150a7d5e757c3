/** Conversion of a model to another operator set, one version at a time. Every node that cannot be converted is reported. */
import { subgraphsOf } from '../ir/edit.js';
import type { Graph, Model } from '../ir/model.js';
import { makeNameScope } from '../ir/name-scope.js';
import { OnnxError } from '../ir/onnx-error.js';
import { describeNode } from '../shape-inference/context/node-context.js';
import { inferShapes } from '../shape-inference/infer-shapes.js';
import { LOWERING_STEPS, OLDEST_LOWERED } from './lowering-steps.js';
import { NEWEST_OPSET, OLDEST_OPSET } from './opset-range.js';
import { RAISING_STEPS } from './raising-steps.js';
import type { Step, StepPlace } from './step.js';

/** The IR version of operator set 17; converted models get at least this version. */
const IR_VERSION = 8;

export interface ConversionRecord {
  readonly from: number;
  readonly to: number;
  /** Edited nodes, once per step: the label of the node, the operator set of the step, and the resulting operator. */
  readonly steps: readonly ConvertedNode[];
}

export interface ConvertedNode {
  readonly node: string;
  readonly opset: number;
  readonly becomes: string;
}

/**
 * Converts the ONNX domain of `model` to operator set `target` in place, including subgraphs; other domains are not changed. Nodes must be in topological
 * order. The graph computes the same function. If it throws, the model is partly converted and must be discarded.
 * @throws OnnxError `opset-conversion` with every node that has no exact form under an operator set on the way and the reason, or if an operator set is not supported.
 */
export function convertOpset(model: Model, target: number): ConversionRecord {
  const from = model.opsets.get('') ?? target;
  if (from === target) return { from, to: from, steps: [] };
  assertSupported(from, target);
  const converted = convertGraphs(model, from < target ? raising(from, target) : lowering(from, target));
  if (converted.rejected.length > 0) throw rejection(from, target, converted.rejected);
  model.opsets.set('', target);
  if (model.irVersion < IR_VERSION) model.irVersion = IR_VERSION;
  return { from, to: target, steps: converted.steps };
}

/** The operator sets on the way, in order, and the step of an operator at each of them. */
type Route = readonly { readonly opset: number; readonly stepOf: (opType: string) => Step | undefined }[];

function raising(from: number, target: number): Route {
  return Array.from({ length: target - from }, (_, index) => {
    const opset = from + 1 + index;
    return { opset, stepOf: opType => RAISING_STEPS[opType]?.[opset] };
  });
}

function lowering(from: number, target: number): Route {
  return Array.from({ length: from - target }, (_, index) => {
    const opset = from - index;
    return { opset, stepOf: opType => LOWERING_STEPS[opType]?.[opset] };
  });
}

interface RejectedNode {
  readonly node: string;
  readonly opset: number;
  readonly reason: string;
}

function convertGraphs(
  model: Model,
  route: Route,
): { readonly steps: readonly ConvertedNode[]; readonly rejected: readonly RejectedNode[] } {
  const steps: ConvertedNode[] = [];
  const rejected: RejectedNode[] = [];
  const names = makeNameScope(model.graph);
  const types = inferShapes(model);
  const visit = (graph: Graph): void => {
    for (const node of [...graph.nodes.values()]) {
      for (const sub of subgraphsOf(node)) visit(sub);
      if (node.domain === '') visitNode({ model, graph, node, types, names });
    }
  };
  const visitNode = (place: StepPlace): void => {
    const { node } = place;
    const label = describeNode(node, place.graph);
    for (const { opset, stepOf } of route) {
      const step = stepOf(node.opType);
      if (step === undefined) continue;
      const reason = step(place);
      if (reason !== undefined) {
        rejected.push({ node: label, opset, reason });
        return;
      }
      steps.push({ node: label, opset, becomes: node.opType });
    }
  };
  visit(model.graph);
  return { steps, rejected };
}

function assertSupported(from: number, target: number): void {
  const range =
    from < target
      ? { oldest: OLDEST_OPSET, newest: NEWEST_OPSET, exceeded: from < OLDEST_OPSET || target > NEWEST_OPSET }
      : { oldest: OLDEST_LOWERED, newest: NEWEST_OPSET, exceeded: target < OLDEST_LOWERED || from > NEWEST_OPSET };
  if (!range.exceeded) return;
  throw new OnnxError(
    'opset-conversion',
    `the model has operator set ${from} and cannot be converted to ${target}: ${from < target ? 'raising' : 'lowering'} is supported between ${range.oldest} and ${range.newest}`,
    { help: 'export the model again with the requested operator set' },
  );
}

function rejection(from: number, target: number, rejected: readonly RejectedNode[]): OnnxError {
  const listed = rejected.slice(0, 8).map(({ node, opset, reason }) => `${node} at ${opset}: ${reason}`);
  const more = rejected.length > listed.length ? `; and ${rejected.length - listed.length} more` : '';
  return new OnnxError('opset-conversion', `operator set ${from} cannot be converted to ${target} exactly: ${listed.join('; ')}${more}`, {
    details: rejected.map(entry => ({ ...entry })),
    help: 'export the model again with the requested operator set, cut off these nodes, or request another operator set',
  });
}
