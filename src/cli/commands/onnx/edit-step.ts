/** The JSON form of an edit step: its schema, the type, and the reader. */
import type { JsonProblem, JsonReader } from '../../../base/json/json-shape.js';
import { keysOf } from '../../../base/keys-of.js';
import { anyList, anyOf, integer, list, NULL, object, text } from '../../../base/schema/build-schema.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';
import { readerOf, withChecks } from '../../../base/schema/schema-reader.js';
import {
  CONSTANT_FIELDS,
  EDIT_ACTIONS,
  EDIT_PROPERTIES,
  findEditProblems,
  SET_ATTRIBUTE_SCHEMA,
} from '../../../onnx/rewrite/edit-schema.js';
import { MATCHES_SCHEMA, NODE_SELECTOR_SCHEMA, type NodeSelector } from '../../../onnx/selection/node-selector.js';
import { findSelectorProblems } from '../../../onnx/selection/read-selector.js';

const RENAME = object({ from: text(), to: text() });

/** An input of an inserted node: a value by name, none, or a constant. */
const OTHER = anyOf([text(), NULL, object(CONSTANT_FIELDS.required, CONSTANT_FIELDS.optional)]);

const INSERTION = object(
  { on: text(), op: text() },
  {
    domain: text(),
    name: text(),
    attributes: anyList(SET_ATTRIBUTE_SCHEMA),
    others: anyList(OTHER),
    at: integer(0),
    readers: NODE_SELECTOR_SCHEMA,
    matches: MATCHES_SCHEMA,
  },
);

const STEP = object(
  {},
  {
    ...EDIT_PROPERTIES,
    renameValue: RENAME,
    renameNode: RENAME,
    insert: INSERTION,
    remove: object({ select: NODE_SELECTOR_SCHEMA }, { matches: MATCHES_SCHEMA, input: integer(0) }),
    addOutput: text(),
    dropOutput: text(),
    dropInput: text(),
    swap: object({ inputs: anyList(text()), outputs: list(text()), with: text() }),
  },
);

export type WrittenStep = FromSchema<typeof STEP>;

export type WrittenInsertion = FromSchema<typeof INSERTION>;

const PLACES: readonly string[] = ['select', 'constant', 'matches'];
const ACTIONS = keysOf(STEP.properties).filter(name => !PLACES.includes(name));

/** Reads one step: exactly one action, and the node or initializer that it acts on. */
export const stepReader: JsonReader<WrittenStep> = withChecks(readerOf(STEP), step => [
  ...checkSelector('select', step.select),
  ...checkSelector('remove.select', step.remove?.select),
  ...checkSelector('insert.readers', step.insert?.readers),
  ...checkAction(step).map(message => ({ path: '', message })),
]);

function checkAction(step: WrittenStep): readonly string[] {
  const given = keysOf(step);
  const [action, ...others] = given.filter(key => ACTIONS.includes(key));
  if (action === undefined || others.length > 0) return [`should have exactly one of ${ACTIONS.join(', ')}`];
  if (EDIT_ACTIONS.some(edit => edit === action)) return findEditProblems(step);
  return given.length > 1 ? [`"${action}" takes no select, constant or matches`] : [];
}

function checkSelector(path: string, selector: NodeSelector | undefined): readonly JsonProblem[] {
  return selector === undefined ? [] : findSelectorProblems(selector, path);
}
