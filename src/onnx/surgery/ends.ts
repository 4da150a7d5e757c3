/** Adding and removing outputs of a model, and removing unread inputs. */
import { indexUses, removeValue } from '../ir/edit.js';
import type { Model } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { removeDeadFrom } from '../passes/remove-dead.js';
import { getNamedValue } from './find-value.js';

/** Appends a value to the outputs of the model. @throws OnnxError `unknown-value`, `already-output`. */
export function addOutput(model: Model, name: string): void {
  const { graph } = model;
  const { id } = getNamedValue(graph, name);
  if (graph.outputs.includes(id)) throw new OnnxError('already-output', `"${name}" is already an output`);
  graph.outputs.push(id);
}

/**
 * Removes an output, and nodes and constants that become unneeded. Inputs are kept.
 * @returns labels of what was removed. @throws OnnxError `unknown-value`, `not-an-end` if the value is not an output, `last-output`.
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
  if (graph.outputs.length === 1) throw new OnnxError('last-output', `"${name}" is the only output, and a model needs at least one`);
  graph.outputs = graph.outputs.filter(other => other !== id);
  return removeDeadFrom(graph);
}

/** Removes an unread input. @throws OnnxError `unknown-value`, `not-an-end`, `input-read`. */
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
    throw new OnnxError(
      'input-read',
      `input "${name}" is read by ${reader === undefined ? 'an output of the model' : reader.node.opType}`,
      {
        help: 'extract the part of the model that does not need it, or replace it by a constant',
      },
    );
  }
  graph.inputs = graph.inputs.filter(other => other !== id);
  removeValue(graph, id);
}

function notAnEnd(name: string, what: 'input' | 'output', known: readonly string[]): OnnxError {
  return new OnnxError('not-an-end', `"${name}" is not an ${what} of the model`, {
    help: `the ${what}s of the model are ${known.join(', ')}`,
  });
}
