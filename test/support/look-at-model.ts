/** What tests look at in a model: its outputs in ONNX Runtime without graph optimization, its operators, names and problems. */
import { checkModel } from '../../src/onnx/check/check-model.js';
import type { Model, Node } from '../../src/onnx/ir/model.js';
import { encodeModel } from '../../src/onnx/serde/encode-model.js';
import { openSession } from '../../src/runtime/session/session.js';
import type { Tensor } from '../../src/tensor/tensor.js';

export async function runModel(model: Model, feeds: Readonly<Record<string, Tensor>>): Promise<Readonly<Record<string, Tensor>>> {
  const session = await openSession(encodeModel(model), { optimization: 'disabled' });
  try {
    return await session.run(feeds);
  } finally {
    await session.close();
  }
}

/** Operators in order. */
export const operators = (model: Model): string[] => [...model.graph.nodes.values()].map(node => node.opType);

export const nodesOf = (model: Model): Node[] => [...model.graph.nodes.values()];

export const valueNames = (model: Model): string[] => [...model.graph.values.values()].map(value => value.name);

/** The library's own check, as passes and rules are given it. */
export const listProblems = (model: Model): readonly string[] => checkModel(model).map(problem => problem.message);
