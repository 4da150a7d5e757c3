/** Which edits does a file list? YAML or JSON: a list of steps, each with one action, checked as a whole before anything is edited. */
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { CodedError } from '../../base/coded-error.js';
import { formatBytes } from '../../base/format.js';
import type { Json } from '../../base/json.js';
import { isJsonObject } from '../../base/json.js';
import {
  anyList,
  fields,
  formatJsonProblems,
  integer,
  type JsonProblem,
  type JsonReader,
  list,
  literal,
  maybe,
  number,
  readJsonShape,
  text,
} from '../../base/json-shape.js';
import { makeDiagnosticList } from '../../engine/config/diagnostic.js';
import { toJson } from '../../engine/config/located.js';
import { parseYaml } from '../../engine/config/parse-yaml.js';
import type { Cut } from '../../onnx/extract.js';
import type { Constant } from '../../onnx/ir/model.js';
import type { AttributeType, SetAttribute, SetConstant } from '../../onnx/rewrite/edits.js';
import { makeAttribute } from '../../onnx/rewrite/edits.js';
import { makeNumbers } from '../../onnx/rewrite/make-numbers.js';
import type { Matches } from '../../onnx/rewrite/matches.js';
import type { NodeSelector } from '../../onnx/select-nodes.js';
import type { EditStep } from '../../onnx/surgery/edit-model.js';
import type { Rename } from '../../onnx/surgery/rename.js';
import { DTYPES, type DType } from '../../tensor/dtype.js';
import { readSound } from './command.js';

const MAX_SCRIPT_BYTES = 16 << 20;

/**
 * The steps of the file at `path`; models that steps name lie beside it, or where they say from there.
 * @throws CodedError `bad-edit-script` with every problem; OnnxError `bad-edit`, and of reading models.
 */
export async function readEditScript(path: string): Promise<readonly EditStep[]> {
  const result = readJsonShape(list(step), await readYaml(path));
  if (result.kind === 'problems') throw badScript(path, formatJsonProblems(result.problems));
  const steps: EditStep[] = [];
  for (const written of result.value) steps.push(await makeStep(written, dirname(path)));
  return steps;
}

function badScript(path: string, problems: readonly string[]): CodedError {
  const [first = '', ...others] = problems;
  const listed = others.length === 0 ? first : `\n  ${problems.slice(0, 10).join('\n  ')}`;
  return new CodedError('bad-edit-script', `${basename(path)}: ${listed}`, {
    help: 'it is a list of steps, such as {select: {op: LeakyRelu}, setAttribute: {name: alpha, type: float, value: 0.1}}',
  });
}

async function readYaml(path: string): Promise<Json> {
  const content = await readText(path);
  const diagnostics = makeDiagnosticList();
  const root = parseYaml(basename(path), content, diagnostics);
  const problems = diagnostics.items.filter(({ severity }) => severity === 'error');
  if (root !== undefined && problems.length === 0) return toJson(root);
  throw badScript(
    path,
    problems.length === 0 ? ['it is empty'] : problems.map(({ span, message }) => `line ${span?.line ?? 1}: ${message}`),
  );
}

async function readText(path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > MAX_SCRIPT_BYTES) throw new Error(`it has ${formatBytes(size)}, ${formatBytes(MAX_SCRIPT_BYTES)} are read`);
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw badScript(path, [cause instanceof Error ? cause.message : String(cause)]);
  }
}

const selector: JsonReader<NodeSelector> = (value, path, problems) => {
  if (typeof value === 'string' && value !== '') return value;
  // Its fields are checked where it is used.
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

interface WrittenInsertion {
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

interface WrittenStep {
  readonly select?: NodeSelector;
  readonly constant?: string;
  readonly matches?: Matches;
  readonly setAttribute?: SetAttribute;
  readonly deleteAttribute?: string;
  readonly setConstant?: SetConstant;
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

/** Actions that go with `select` or `constant`. */
const EDITS = ['setAttribute', 'deleteAttribute', 'setConstant'];
const ACTIONS = [...EDITS, 'renameValue', 'renameNode', 'insert', 'remove', 'addOutput', 'dropOutput', 'dropInput', 'swap'];

const step: JsonReader<WrittenStep> = (value, path, problems) => {
  const read = written(value, path, problems);
  if (!isJsonObject(value)) return read;
  const add = (message: string): number => problems.push({ path, message } satisfies JsonProblem);
  const actions = Object.keys(value).filter(key => ACTIONS.includes(key));
  if (actions.length !== 1) add(`should have one of ${ACTIONS.join(', ')}`);
  else if (!EDITS.includes(actions[0] ?? '')) {
    if ('select' in value || 'constant' in value || 'matches' in value) add(`"${actions[0]}" says itself what it means`);
  } else if ('select' in value === 'constant' in value) add('should have one of select (a node) and constant (an initializer)');
  return read;
};

async function makeStep(from: WrittenStep, folder: string): Promise<EditStep> {
  const { renameValue, renameNode, insert, remove, addOutput, dropOutput, dropInput, swap, ...edit } = from;
  if (renameValue !== undefined) return { kind: 'rename-values', renames: [renameValue] };
  if (renameNode !== undefined) return { kind: 'rename-nodes', renames: [renameNode] };
  if (insert !== undefined) return makeInsertion(insert);
  if (remove !== undefined) return { kind: 'remove', removal: remove };
  if (addOutput !== undefined) return { kind: 'add-output', name: addOutput };
  if (dropOutput !== undefined) return { kind: 'drop-output', name: dropOutput };
  if (dropInput !== undefined) return { kind: 'drop-input', name: dropInput };
  if (swap !== undefined) return { kind: 'swap', cut: swap, replacement: await readSound(resolve(folder, swap.with)) };
  return { kind: 'edit', edit };
}

function makeInsertion({ attributes = [], others = [], ...insertion }: WrittenInsertion): EditStep {
  return {
    kind: 'insert',
    insertion: {
      ...insertion,
      attributes: Object.fromEntries(attributes.map(({ name, type, value }) => [name, makeAttribute(name, type, value)])),
      others: others.map((item): string | Constant | undefined => {
        if (item === null) return undefined;
        return typeof item === 'string' ? item : makeNumbers(item.dtype, item.dims ?? [item.values.length], item.values);
      }),
    },
  };
}
