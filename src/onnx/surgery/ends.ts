/** How does a model get more outputs, or fewer; and lose inputs that nothing reads? */
import { indexUses, removeValue } from '../ir/edit.js';
import type { Model } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { removeDeadFrom } from '../passes/remove-dead.js';
import { getNamedValue } from './find-value.js';

/** Makes a value an output too, after those that there are. @throws OnnxError `unknown-value`, `already-output`. */
export function addOutput(model: Model, name: string): void {
  const { graph } = model;
  const { id } = getNamedValue(graph, name);
  if (graph.outputs.includes(id)) throw new OnnxError('already-output', `"${name}" is an output already`);
  graph.outputs.push(id);
}

/**
 * Takes an output away, and the nodes and constants that nothing needs without it. Inputs stay.
 * @returns what went. @throws OnnxError `unknown-value`, `not-an-end` where the value is no output, `last-output`.
 */
export function dropOutput(model: Model, name: string): readonly string[] {
  const { graph } = model;
  const { id } = getNamedValue(graph, name);
  if (!graph.outputs.includes(id))
    throw notAnEnd(
      name,
      'output',
      graph.outputs.map(other => graph.values.get(other)?.name ?? ''),
    );
  if (graph.outputs.length === 1)
    throw new OnnxError('last-output', `"${name}" is the only output: a model without outputs computes nothing`);
  graph.outputs = graph.outputs.filter(other => other !== id);
  return removeDeadFrom(graph);
}

/** Takes an input away that nothing reads. @throws OnnxError `unknown-value`, `not-an-end`, `input-read`. */
export function dropInput(model: Model, name: string): void {
  const { graph } = model;
  const { id } = getNamedValue(graph, name);
  if (!graph.inputs.includes(id))
    throw notAnEnd(
      name,
      'input',
      graph.inputs.map(other => graph.values.get(other)?.name ?? ''),
    );
  const [reader] = indexUses(graph).get(id) ?? [];
  if (reader !== undefined || graph.outputs.includes(id)) {
    throw new OnnxError('input-read', `input "${name}" is read by ${reader === undefined ? 'an output' : reader.node.opType}`, {
      help: 'extract the part that does without it, or give it a constant',
    });
  }
  graph.inputs = graph.inputs.filter(other => other !== id);
  removeValue(graph, id);
}

function notAnEnd(name: string, what: 'input' | 'output', known: readonly string[]): OnnxError {
  return new OnnxError('not-an-end', `"${name}" is no ${what} of the model`, { help: `its ${what}s are ${known.join(', ')}` });
}
