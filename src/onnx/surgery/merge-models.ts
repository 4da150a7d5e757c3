/** Merging of two models: values of the first feed inputs of the second, and unconnected inputs and outputs are kept. */
import { describeNear, findNear } from '../../base/text/did-you-mean.js';
import { cloneModel } from '../ir/clone.js';
import { getValue } from '../ir/edit.js';
import type { Model, Value, ValueId } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { inferShapes, writeTypes } from '../shape-inference/infer-shapes.js';
import { assertCompatible } from './assert-compatible.js';
import { getNamedValue } from './find-value.js';
import { mergeFunctions } from './merge-functions.js';
import { type Rename, renameNodes, renameValues } from './rename.js';
import { alignOpsets, spliceGraph } from './splice.js';

export interface MergeOptions {
  /** Input of the second model → value of the first: an output, an input (which then feeds both), or an intermediate value. If empty, equal names are connected. */
  readonly connect: Readonly<Record<string, string>>;
  /** Prefixes for all names of a model. A name of the second model that is still taken gets a number. */
  readonly prefix?: { readonly first?: string; readonly second?: string };
  /** Whether outputs of the first model that feed the second remain outputs. Default: 'drop'. */
  readonly connected?: 'drop' | 'keep';
}

export interface Merged {
  readonly model: Model;
  /** Values and nodes of the second model that were renamed because their names were taken. Prefixes are not listed. */
  readonly renamed: readonly Rename[];
}

/**
 * Merges two valid models; neither is changed. Names, header and metadata of the first model are kept; metadata keys that only the second has are added. If
 * operator sets differ, the older one is raised. Names in `connect` are those without prefixes.
 * @throws OnnxError what shape inference throws; `merge-unconnected`, `unknown-value`, `not-an-end`, `type-mismatch`, `opset-conversion`, `opsets-differ`, `functions-differ`, `name-taken`.
 */
export function mergeModels(first: Model, second: Model, options: MergeOptions): Merged {
  const [model, other] = [cloneModel(first), cloneModel(second)];
  for (const one of [model, other]) writeTypes(one, inferShapes(one));
  const pairs = findPairs(model, other, options.connect);
  addPrefix(model, options.prefix?.first ?? '');
  addPrefix(other, options.prefix?.second ?? '');
  alignOpsets(model, other);
  const { ids, renamed } = spliceGraph(model, other.graph, new Map(pairs.map(({ input, value }) => [input.id, value.id])));
  const { graph } = model;
  const idsOf = (own: readonly ValueId[]): ValueId[] => own.flatMap(id => ids.get(id) ?? []);
  const fed = new Set(pairs.map(({ value }) => value.id));
  graph.inputs = [...new Set([...graph.inputs, ...idsOf(other.graph.inputs).filter(id => !fed.has(id))])];
  const kept = graph.outputs.filter(id => options.connected === 'keep' || !fed.has(id));
  graph.outputs = [...new Set([...kept, ...idsOf(other.graph.outputs)])];
  model.unknown = mergeFunctions(model.unknown, other.unknown);
  for (const [key, value] of other.metadata) if (!model.metadata.has(key)) model.metadata.set(key, value);
  return { model, renamed };
}

interface Pair {
  readonly input: Value;
  readonly value: Value;
}

function findPairs(first: Model, second: Model, connect: Readonly<Record<string, string>>): readonly Pair[] {
  const inputs = second.graph.inputs.map(id => getValue(second.graph, id)).filter(({ constant }) => constant === undefined);
  const outputs = first.graph.outputs.map(id => getValue(first.graph, id));
  const asked = Object.entries(connect);
  if (asked.length === 0) {
    const pairs = inputs.flatMap(input => outputs.filter(({ name }) => name === input.name).map(value => ({ input, value })));
    if (pairs.length > 0) return checked(pairs);
    const list = (values: readonly Value[]): string => values.map(({ name }) => name).join(', ');
    throw new OnnxError(
      'merge-unconnected',
      `no output of the first model (${list(outputs)}) has the name of an input of the second (${list(inputs)})`,
      {
        help: 'connect them explicitly (`connect`)',
      },
    );
  }
  return checked(
    asked.map(([name, from]) => {
      const input = inputs.find(value => value.name === name);
      if (input !== undefined) return { input, value: getNamedValue(first.graph, from) };
      const near = findNear(
        name,
        inputs.map(value => value.name),
      );
      const help = near.length === 0 ? `its inputs are ${inputs.map(value => value.name).join(', ')}` : describeNear(near);
      throw new OnnxError('not-an-end', `"${name}" is not an input of the second model`, { help });
    }),
  );
}

function checked(pairs: readonly Pair[]): readonly Pair[] {
  for (const { input, value } of pairs) assertCompatible(value.type, input.type, `"${value.name}" to "${input.name}"`);
  return pairs;
}

function addPrefix(model: Model, prefix: string): void {
  if (prefix === '') return;
  renameValues(model, [{ from: '*', to: `${prefix}*` }]);
  if ([...model.graph.nodes.values()].some(({ name }) => name !== '')) renameNodes(model, [{ from: '*', to: `${prefix}*` }]);
}
