/** How does a model come to another operator set? Each node goes through the sets between the two, one step at a time; every node that cannot is named. */
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

/** Operator set 17 came with IR version 8; files of older versions may say less than newer operator sets need. */
const IR_VERSION = 8;

export interface ConversionRecord {
  readonly from: number;
  readonly to: number;
  /** Nodes that were edited, once per step: what the node was called, the operator set of the step, and the operator now. */
  readonly steps: readonly ConvertedNode[];
}

export interface ConvertedNode {
  readonly node: string;
  readonly opset: number;
  readonly becomes: string;
}

/**
 * Brings the ONNX domain of `model` to operator set `target` in place, sub-graphs included; other domains stay. Nodes in topological order.
 * The graph computes what it did, bit for bit where the kernels do. Nothing is undone where it fails: the model is to be thrown away.
 * @throws OnnxError `opset-conversion` with every node that has no exact form under a set on the way, and why; or for sets that are out of reach.
 */
export function convertOpset(model: Model, target: number): ConversionRecord {
  const from = model.opsets.get('') ?? target;
  if (from === target) return { from, to: from, steps: [] };
  assertInReach(from, target);
  const converted = convertGraphs(model, from < target ? raising(from, target) : lowering(from, target));
  if (converted.refused.length > 0) throw refusal(from, target, converted.refused);
  model.opsets.set('', target);
  if (model.irVersion < IR_VERSION) model.irVersion = IR_VERSION;
  return { from, to: target, steps: converted.steps };
}

/** Which step an operator has at each operator set on the way, in order. */
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

interface Refused {
  readonly node: string;
  readonly opset: number;
  readonly reason: string;
}

function convertGraphs(model: Model, route: Route): { readonly steps: readonly ConvertedNode[]; readonly refused: readonly Refused[] } {
  const steps: ConvertedNode[] = [];
  const refused: Refused[] = [];
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
        refused.push({ node: label, opset, reason });
        return;
      }
      steps.push({ node: label, opset, becomes: node.opType });
    }
  };
  visit(model.graph);
  return { steps, refused };
}

function assertInReach(from: number, target: number): void {
  const reach =
    from < target
      ? { oldest: OLDEST_OPSET, newest: NEWEST_OPSET, far: from < OLDEST_OPSET || target > NEWEST_OPSET }
      : { oldest: OLDEST_LOWERED, newest: NEWEST_OPSET, far: target < OLDEST_LOWERED || from > NEWEST_OPSET };
  if (!reach.far) return;
  throw new OnnxError(
    'opset-conversion',
    `the model has operator set ${from}, ${target} is wanted; ${from < target ? 'raising' : 'lowering'} is known between ${reach.oldest} and ${reach.newest}`,
    { help: 'export the model again with the operator set that is wanted' },
  );
}

function refusal(from: number, target: number, refused: readonly Refused[]): OnnxError {
  const listed = refused.slice(0, 8).map(({ node, opset, reason }) => `${node} at ${opset}: ${reason}`);
  const more = refused.length > listed.length ? `; and ${refused.length - listed.length} more` : '';
  return new OnnxError('opset-conversion', `operator set ${from} cannot be brought to ${target} exactly: ${listed.join('; ')}${more}`, {
    details: refused.map(entry => ({ ...entry })),
    help: 'export the model again with the operator set that is wanted, cut these nodes off, or ask for another operator set',
  });
}
