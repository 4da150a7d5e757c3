/** The reader of node selectors. It is made from their schema, and checks nested selectors too. */

import { formatJsonProblems, type JsonProblem, type JsonReader, readJsonShape } from '../../base/json/json-shape.js';
import type { Json } from '../../base/json.js';
import { readerOf, withChecks } from '../../base/schema/schema-reader.js';
import { OnnxError } from '../ir/onnx-error.js';
import { FIELD_NAMES, NODE_SELECTOR_SCHEMA, type NodeFields, type NodeSelector } from './node-selector.js';

/** Maximum nesting depth of selectors. */
const MAX_DEPTH = 8;

const SELECTOR = readerOf(NODE_SELECTOR_SCHEMA);

/** Reads the text or the fields of a selector, and those of all selectors in it. */
export const readSelector: JsonReader<NodeSelector> = (value, path, problems) => atDepth(0)(value, path, problems);

/** @throws OnnxError `bad-selector` with every problem. */
export function parseSelectorJson(value: Json): NodeSelector {
  const result = readJsonShape(readSelector, value);
  if (result.kind === 'ok') return result.value;
  throw badSelector(result.problems);
}

/** The problems of a selector whose own fields were checked, with paths that begin with `path`. */
export function findSelectorProblems(selector: NodeSelector, path: string): readonly JsonProblem[] {
  const problems: JsonProblem[] = [];
  readSelector(toJson(selector), path, problems);
  return problems;
}

/** For selectors that a program made. @throws OnnxError `bad-selector` with every problem. */
export function assertSelector(selector: NodeSelector): void {
  parseSelectorJson(toJson(selector));
}

function atDepth(depth: number): JsonReader<NodeSelector> {
  return withChecks(SELECTOR, selector => (typeof selector === 'string' ? [] : checkNested(selector, depth)));
}

function checkNested({ producer, consumer, inputs = [] }: NodeFields, depth: number): readonly JsonProblem[] {
  const nested: readonly (readonly [string, NodeSelector | null | undefined])[] = [
    ['producer', producer],
    ['consumer', consumer],
    ...inputs.map((selector, index) => [`inputs[${index}]`, selector] as const),
  ];
  const problems: JsonProblem[] = [];
  for (const [path, selector] of nested) {
    if (typeof selector !== 'object' || selector === null) continue;
    if (depth === MAX_DEPTH) problems.push({ path, message: `is nested deeper than ${MAX_DEPTH}` });
    else atDepth(depth + 1)(toJson(selector), path, problems);
  }
  return problems;
}

/** A selector is JSON by its schema. An interface, which a type that contains itself has to be, is not assignable to Json. */
function toJson(selector: NodeSelector): Json {
  return selector as Json;
}

function badSelector(problems: readonly JsonProblem[]): OnnxError {
  return new OnnxError('bad-selector', `a selector is invalid: ${formatJsonProblems(problems).join('; ')}`, {
    help: `its fields are ${FIELD_NAMES.join(', ')}`,
  });
}
