/** The JSON form of an edit step, and its readers. */
import { isJsonObject, type Json } from '../../../base/json.js';
import {
  anyList,
  fields,
  integer,
  type JsonProblem,
  type JsonReader,
  list,
  literal,
  maybe,
  number,
  text,
} from '../../../base/json-shape.js';
import type { AttributeType, Edit, SetAttribute } from '../../../onnx/rewrite/edits.js';
import type { Matches } from '../../../onnx/rewrite/matches.js';
import type { NodeSelector } from '../../../onnx/selection/node-selector.js';
import type { Cut } from '../../../onnx/surgery/extract.js';
import type { Rename } from '../../../onnx/surgery/rename.js';
import { DTYPES, type DType } from '../../../tensor/dtype.js';

const selector: JsonReader<NodeSelector> = (value, path, problems) => {
  if (typeof value === 'string' && value !== '') return value;
  // The fields are checked where the selector is used.
  if (isJsonObject(value) && Object.keys(value).length > 0) return value as Exclude<NodeSelector, string>;
  problems.push({ path, message: "should be a node's name, or an object such as {op: Conv}" });
  return undefined;
};

type AttributeValue = SetAttribute['value'];

const attributeValue: JsonReader<AttributeValue> = (value, path, problems) => {
  const isPlain = (item: Json | undefined): boolean => typeof item === 'string' || (typeof item === 'number' && Number.isFinite(item));
  if (isPlain(value) || (Array.isArray(value) && value.every(isPlain))) return value as AttributeValue;
  problems.push({ path, message: 'should be a number, a text, or a list of these' });
  return undefined;
};

const attribute = fields<SetAttribute>({
  name: text(),
  type: literal<AttributeType>('int', 'ints', 'float', 'floats', 'string', 'strings'),
  value: attributeValue,
});

const constant = fields<{ input?: number; dtype: DType; dims?: readonly number[]; values: readonly number[] }>({
  input: maybe(integer(0)),
  dtype: literal(...(Object.keys(DTYPES) as DType[])),
  dims: maybe(anyList(integer(0))),
  values: anyList(number()),
});

const rename = fields<Rename>({ from: text(), to: text() });

type Other = string | null | { readonly dtype: DType; readonly dims?: readonly number[]; readonly values: readonly number[] };

const other: JsonReader<Other> = (value, path, problems) => {
  if (value === null) return null;
  return typeof value === 'string' ? text()(value, path, problems) : constant(value, path, problems);
};

export interface WrittenInsertion {
  readonly on: string;
  readonly op: string;
  readonly domain?: string;
  readonly name?: string;
  readonly attributes?: readonly SetAttribute[];
  readonly others?: readonly Other[];
  readonly at?: number;
  readonly readers?: NodeSelector;
  readonly matches?: Matches;
}

export interface WrittenStep extends Edit {
  readonly renameValue?: Rename;
  readonly renameNode?: Rename;
  readonly insert?: WrittenInsertion;
  readonly remove?: { readonly select: NodeSelector; readonly matches?: Matches; readonly input?: number };
  readonly addOutput?: string;
  readonly dropOutput?: string;
  readonly dropInput?: string;
  readonly swap?: Cut & { readonly with: string };
}

const matches = maybe(literal<Matches>('one', 'any'));

const written = fields<WrittenStep>({
  select: maybe(selector),
  constant: maybe(text()),
  matches,
  setAttribute: maybe(attribute),
  deleteAttribute: maybe(text()),
  setConstant: maybe(constant),
  renameValue: maybe(rename),
  renameNode: maybe(rename),
  insert: maybe(
    fields<WrittenInsertion>({
      on: text(),
      op: text(),
      domain: maybe(text()),
      name: maybe(text()),
      attributes: maybe(anyList(attribute)),
      others: maybe(anyList(other)),
      at: maybe(integer(0)),
      readers: maybe(selector),
      matches,
    }),
  ),
  remove: maybe(fields<NonNullable<WrittenStep['remove']>>({ select: selector, matches, input: maybe(integer(0)) })),
  addOutput: maybe(text()),
  dropOutput: maybe(text()),
  dropInput: maybe(text()),
  swap: maybe(fields<NonNullable<WrittenStep['swap']>>({ inputs: anyList(text()), outputs: list(text()), with: text() })),
});

/** Actions that need `select` or `constant`. */
const EDITS = ['setAttribute', 'deleteAttribute', 'setConstant'];
const ACTIONS = [...EDITS, 'renameValue', 'renameNode', 'insert', 'remove', 'addOutput', 'dropOutput', 'dropInput', 'swap'];

/** Reads one step: exactly one action, and the node or initializer that it acts on. */
export const stepReader: JsonReader<WrittenStep> = (value, path, problems) => {
  const read = written(value, path, problems);
  if (!isJsonObject(value)) return read;
  const add = (message: string): number => problems.push({ path, message } satisfies JsonProblem);
  const actions = Object.keys(value).filter(key => ACTIONS.includes(key));
  if (actions.length !== 1) add(`should have exactly one of ${ACTIONS.join(', ')}`);
  else if (!EDITS.includes(actions[0] ?? '')) {
    if ('select' in value || 'constant' in value || 'matches' in value) add(`"${actions[0]}" takes no select, constant or matches`);
  } else if ('select' in value === 'constant' in value) add('should have either select (a node) or constant (an initializer)');
  return read;
};
