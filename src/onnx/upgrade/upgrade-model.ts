/** How does a model come to a newer operator set? Each node goes through the steps between the two, in order; every node that cannot is named. */
import { subgraphsOf } from '../ir/edit.js';
import type { Graph, Model } from '../ir/model.js';
import { makeNameScope } from '../ir/name-scope.js';
import { OnnxError } from '../onnx-error.js';
import { inferShapes } from '../shape-inference/infer-shapes.js';
import { describeNode } from '../shape-inference/node-context.js';
import { NEWEST_OPSET, OLDEST_OPSET } from './opset-range.js';
import type { StepPlace } from './step.js';
import { STEPS } from './steps.js';

/** Operator set 17 came with IR version 8; files of older versions may say less than newer operator sets need. */
const IR_VERSION = 8;

export interface UpgradeRecord {
  readonly from: number;
  readonly to: number;
  /** Nodes that were edited, once per step. */
  readonly steps: readonly { readonly node: string; readonly opset: number; readonly becomes: string }[];
}

/**
 * Brings the ONNX domain of `model` to operator set `target` in place, sub-graphs included, where it is older; other domains stay. Nodes in topological order.
 * The graph computes what it did, bit for bit where the kernels do. Nothing is undone where it fails: the model is to be thrown away.
 * @throws OnnxError `opset-upgrade` with every node that has no exact form under a set in between, and why; or for an operator set that is too old.
 */
export function upgradeModel(model: Model, target: number): UpgradeRecord {
  const from = model.opsets.get('') ?? target;
  if (from >= target) return { from, to: from, steps: [] };
  if (from < OLDEST_OPSET || target > NEWEST_OPSET) throw outOfReach(from, target);
  const steps: { node: string; opset: number; becomes: string }[] = [];
  const refused: { node: string; opset: number; reason: string }[] = [];
  const names = makeNameScope(model.graph);
  const types = inferShapes(model);
  const visit = (graph: Graph): void => {
    for (const node of [...graph.nodes.values()]) {
      for (const sub of subgraphsOf(node)) visit(sub);
      if (node.domain !== '') continue;
      const label = describeNode(node, graph);
      const place: StepPlace = { model, graph, node, types, names };
      for (let opset = from + 1; opset <= target; opset++) {
        const step = STEPS[node.opType]?.[opset];
        if (step === undefined) continue;
        const reason = step(place);
        if (reason === undefined) steps.push({ node: label, opset, becomes: node.opType });
        else {
          refused.push({ node: label, opset, reason });
          break;
        }
      }
    }
  };
  visit(model.graph);
  if (refused.length > 0) throw refusal(from, target, refused);
  model.opsets.set('', target);
  if (model.irVersion < IR_VERSION) model.irVersion = IR_VERSION;
  return { from, to: target, steps };
}

function outOfReach(from: number, target: number): OnnxError {
  return new OnnxError(
    'opset-upgrade',
    `the model has operator set ${from}; it can be brought from ${OLDEST_OPSET} and later to at most ${NEWEST_OPSET}, not to ${target}`,
    {
      help: 'export the model again with a newer operator set',
    },
  );
}

function refusal(from: number, target: number, refused: readonly { node: string; opset: number; reason: string }[]): OnnxError {
  const listed = refused.slice(0, 8).map(({ node, opset, reason }) => `${node} at ${opset}: ${reason}`);
  const more = refused.length > listed.length ? `; and ${refused.length - listed.length} more` : '';
  return new OnnxError('opset-upgrade', `operator set ${from} cannot be brought to ${target} exactly: ${listed.join('; ')}${more}`, {
    details: refused.map(entry => ({ ...entry })),
    help: 'export the model again with a newer operator set, cut these nodes off, or ask for an operator set before the one named',
  });
}
