/** Edits of attributes and constants that a user requests: each edit selects nodes or initializers, changes them, and records the old and new values. */
import { describeNear, findClosest, findNear } from '../../base/text/did-you-mean.js';
import { float, floats, int, ints, string } from '../ir/attribute.js';
import { addInitializer, freshName, getValue, indexUses, setInput } from '../ir/edit.js';
import type { Attribute, Model, Node, Value } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { makeNameMatcher } from '../selection/name-pattern.js';
import type { Matches } from '../selection/node-selector.js';
import { describeNode, formatDims } from '../shape-inference/context/node-context.js';
import { describeAttribute } from '../text/describe-attribute.js';
import type { AttributeType, Edit, SetAttribute, SetConstant } from './edit-schema.js';
import { makeNumbers } from './make-numbers.js';
import { selectMatching, severalMatches } from './matches.js';

export interface EditRecord {
  /** The node, or the initializer. */
  readonly at: string;
  readonly what: string;
  readonly before: string;
  readonly after: string;
}

/**
 * Applies one edit to the main graph of `model`. The caller infers shapes again.
 * @throws OnnxError `selector-matches-nothing`, `selector-matches-several`, `bad-edit`, `no-such-attribute`, `not-constant`.
 */
export function applyEdit(model: Model, edit: Edit): readonly EditRecord[] {
  if (edit.constant !== undefined) return replaceInitializers(model, edit.constant, edit.matches ?? 'one', getConstantEdit(edit));
  if (edit.select === undefined) throw new OnnxError('bad-edit', 'an edit needs `select` (a node) or `constant` (an initializer)');
  const nodes = selectMatching(model.graph, edit.select, edit.matches ?? 'one');
  return nodes.map(node => editNode(model, node, edit));
}

function getConstantEdit({ setConstant }: Edit): SetConstant {
  if (setConstant === undefined) throw new OnnxError('bad-edit', 'an edit of an initializer needs `setConstant`');
  return setConstant;
}

function editNode(model: Model, node: Node, edit: Edit): EditRecord {
  if (edit.setAttribute !== undefined) return setAttribute(model, node, edit.setAttribute);
  if (edit.deleteAttribute !== undefined) return deleteAttribute(model, node, edit.deleteAttribute);
  return replaceInput(model, node, getConstantEdit(edit));
}

function setAttribute(model: Model, node: Node, { name, type, value }: SetAttribute): EditRecord {
  const before = node.attributes.get(name);
  node.attributes.set(name, makeAttribute(name, type, value));
  return {
    at: describeNode(node, model.graph),
    what: `attribute ${name}`,
    before: describeAttribute(before),
    after: describeAttribute(node.attributes.get(name)),
  };
}

function deleteAttribute(model: Model, node: Node, name: string): EditRecord {
  const before = node.attributes.get(name);
  if (before === undefined) {
    const closest = findClosest(name, node.attributes.keys());
    const help = `its attributes are ${[...node.attributes.keys()].join(', ') || 'none'}${closest === undefined ? '' : `; did you mean "${closest}"?`}`;
    throw new OnnxError('no-such-attribute', `${describeNode(node, model.graph)} has no attribute "${name}"`, { help });
  }
  node.attributes.delete(name);
  return { at: describeNode(node, model.graph), what: `attribute ${name}`, before: describeAttribute(before), after: 'absent' };
}

const encoder = new TextEncoder();

/** @throws OnnxError `bad-edit` if the value does not have the type. */
export function makeAttribute(name: string, type: AttributeType, value: SetAttribute['value']): Attribute {
  const list = typeof value === 'object' ? value : [value];
  const isNumber = (entry: number | string): entry is number => typeof entry === 'number';
  const isText = (entry: number | string): entry is string => typeof entry === 'string';
  const isWhole = (entry: number | string): entry is number => Number.isSafeInteger(entry);
  const [first] = list;
  const single = typeof value !== 'object';
  if (type === 'int' && single && first !== undefined && isWhole(first)) return int(first);
  if (type === 'float' && single && first !== undefined && isNumber(first)) return float(first);
  if (type === 'string' && single && first !== undefined && isText(first)) return string(first);
  if (type === 'ints' && !single && list.every(isWhole)) return ints(list);
  if (type === 'floats' && !single && list.every(isNumber)) return floats(list);
  if (type === 'strings' && !single && list.every(isText)) return { kind: 'strings', value: list.map(entry => encoder.encode(entry)) };
  throw new OnnxError('bad-edit', `attribute "${name}": expected a value of type ${type}, found ${JSON.stringify(value)}`);
}

/** Replaces the initializers that match `pattern`, for all their readers. */
function replaceInitializers({ graph }: Model, pattern: string, matches: Matches, edit: SetConstant): readonly EditRecord[] {
  const initializers = [...graph.values.values()].filter(({ constant }) => constant !== undefined);
  const matchesName = makeNameMatcher(pattern);
  const found = initializers.filter(({ name }) => matchesName(name));
  if (matches === 'one' && found.length === 0) {
    const near = findNear(
      pattern,
      initializers.map(({ name }) => name),
    );
    const help = near.length === 0 ? {} : { help: describeNear(near) };
    throw new OnnxError('selector-matches-nothing', `no initializer matches "${pattern}"`, help);
  }
  if (matches === 'one' && found.length > 1)
    throw severalMatches(
      `"${pattern}"`,
      found.map(({ name }) => name),
      'initializers',
    );
  return found.map(value => {
    const before = describeConstant(value);
    setConstant(value, edit);
    return { at: value.name, what: 'constant', before, after: describeConstant(value) };
  });
}

/** Replaces one input for this node only: an initializer with other readers is copied first. */
function replaceInput(model: Model, node: Node, edit: SetConstant): EditRecord {
  const { graph } = model;
  if (edit.input === undefined)
    throw new OnnxError('bad-edit', `${describeNode(node, model.graph)}: setConstant needs the index of the input`);
  const id = node.inputs[edit.input];
  const value = id === undefined ? undefined : graph.values.get(id);
  if (value?.constant === undefined) {
    throw new OnnxError('not-constant', `${describeNode(node, model.graph)}: input ${edit.input} is not an initializer`, {
      help: 'run the simplify stage first: it turns Constant nodes into initializers',
    });
  }
  const before = describeConstant(value);
  const shared = (indexUses(graph).get(value.id)?.length ?? 0) > 1 || graph.inputs.includes(value.id) || graph.outputs.includes(value.id);
  const target = shared ? addInitializer(model, graph, freshName(graph, value.name), value.constant) : getValue(graph, value.id);
  if (shared) setInput(node, edit.input, target.id);
  setConstant(target, edit);
  return { at: describeNode(node, model.graph), what: `input ${edit.input}`, before, after: describeConstant(target) };
}

function setConstant(value: Value, edit: SetConstant): void {
  const old = value.constant?.dims ?? [];
  const sameCount = old.reduce((product, dim) => product * dim, 1) === edit.values.length;
  const dims = edit.dims ?? (sameCount ? old : [edit.values.length]);
  value.constant = makeNumbers(edit.dtype, dims, edit.values);
  value.type = { kind: 'tensor', dtype: edit.dtype, dims };
}

function describeConstant(value: Value): string {
  return `${value.constant?.dtype} ${formatDims(value.constant?.dims)}`;
}
