/** Plans an edit of the pipeline file: finds the one place that it changes, or says why there is none. */
import { type Document, isAlias, isMap, type Node, parseDocument, type YAMLMap } from 'yaml';
import { encodeCanonicalJson } from '../../base/json/canonical-json.js';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.js';
import { refuse } from './edit-error.js';
import type { Edit, EditedStage } from './edit-schema.js';
import { dataOf, getList, getMap, getSettings, isShared, type Planned, shared, valueAt, withValue } from './file-place.js';
import { addItem, addMember, applyChange, replaceNode } from './insert-yaml.js';
import { planRule } from './plan-rule.js';
import { planStage } from './plan-stage.js';

export interface PlannedEdit {
  readonly text: string;
  /** What is changed, for people: "stages.quantize.with.exclude, line 41". */
  readonly place: string;
}

/** @throws RequestError `ui-edit-place` if the place is shared or not a plain value. */
export function planEdit(text: string, edit: Edit, place: EditedStage): PlannedEdit {
  const document = parseDocument(text, { version: '1.2', merge: true, uniqueKeys: false, logLevel: 'silent' });
  if (document.errors.length > 0 || !isMap(document.contents))
    throw refuse('ui-edit-place', 'the pipeline file has errors', 'correct them first');
  const planned = planIn(text, document, document.contents, edit, place);
  // From the end, so that the places before it stay.
  const changes = [...planned.changes].sort((a, b) => b.from - a.from);
  const changed = changes.reduce(applyChange, text);
  checkEffect(changed, planned.expected);
  const line = text.slice(0, changes[0]?.from).split('\n').length;
  return { text: changed, place: `${planned.path.join('.')}, line ${line}` };
}

function planIn(text: string, document: Document, root: YAMLMap, edit: Edit, place: EditedStage): Planned {
  switch (edit.kind) {
    case 'param':
      return planParam(document, root, edit, place);
    case 'rule':
      return place.added === undefined ? planRule(text, document, root, edit, place) : planStage(text, document, root, edit, place.added);
    default:
      return planList(text, document, root, edit, place);
  }
}

function planParam(document: Document, root: YAMLMap, { name, to }: Extract<Edit, { kind: 'param' }>, { effective }: EditedStage): Planned {
  const params = getMap(document, root, ['params']);
  const own = params.get(name, true) as Node | undefined;
  if (own === undefined) throw refuse('ui-edit-place', `the file declares no parameter "${name}"`);
  const path = isMap(own) ? ['params', name, 'default'] : ['params', name];
  const node = isMap(own) ? (own.get('default', true) as Node | undefined) : own;
  if (node === undefined || isAlias(node) || isShared(document, node)) throw shared(path, node);
  const written = valueAt(dataOf(document), path);
  if (effective !== undefined && written !== undefined && encodeCanonicalJson(effective) !== encodeCanonicalJson(written))
    throw refuse(
      'ui-edit-place',
      `the parameter ${name} is ${JSON.stringify(effective)}, and ${JSON.stringify(written)} in the file: -p, --params-file or a save in between sets it`,
      'start the page without them, or edit the file',
    );
  return { changes: [replaceNode(node, to)], path, expected: withValue(dataOf(document), path, to) };
}

function planList(
  text: string,
  document: Document,
  root: YAMLMap,
  edit: Extract<Edit, { kind: 'exclude' | 'override' }>,
  place: EditedStage,
): Planned {
  const { group } = place;
  const list = edit.kind === 'exclude' ? 'exclude' : 'overrides';
  // A list may serve all instances of a group: a name that another model lacks is no error.
  const entry: JsonObject =
    edit.kind === 'exclude' ? { tensor: edit.value, matches: 'any' } : { tensor: edit.value, matches: 'any', set: edit.set };
  const stage = getMap(document, root, ['stages', group]);
  const before = dataOf(document);
  const ofStage = ['stages', group, 'with', list];
  const settings = getSettings(document, stage, ofStage.slice(0, 3));
  const first = { path: ofStage, expected: withValue(before, ofStage, [entry]) };
  if (settings === undefined) return { changes: [addMember(text, stage, 'with', { [list]: [entry] })], ...first };
  const node = settings.get(list, true) as Node | undefined;
  if (node === undefined) return { changes: [addMember(text, settings, list, [entry])], ...first };
  const { list: own, path } = getList(document, root, node, place, ofStage);
  const items = (valueAt(before, path) ?? []) as readonly Json[];
  const index = items.findIndex(item => isJsonObject(item) && item.tensor === edit.value);
  if (edit.kind === 'exclude' && (index >= 0 || items.includes(edit.value)))
    throw refuse('ui-edit-place', `${edit.value} is excluded already`);
  if (index < 0) return { changes: [addItem(text, own, entry)], path, expected: withValue(before, path, [...items, entry]) };
  const former = items[index] as JsonObject;
  const merged = { ...former, set: merge(isJsonObject(former.set) ? former.set : {}, edit.kind === 'override' ? edit.set : {}) };
  const item = own.items[index] as Node;
  if (isAlias(item) || item.anchor !== undefined) throw shared([...path, String(index)], item);
  return {
    changes: [replaceNode(item, merged)],
    path: [...path, String(index)],
    expected: withValue(
      before,
      path,
      items.map((one, at) => (at === index ? merged : one)),
    ),
  };
}

/** A range and a scale exclude each other, so that the newer one stays. */
function merge(before: JsonObject, after: JsonObject): JsonObject {
  const { scale, zeroPoint, ...others } = before;
  const kept = 'range' in after ? others : before;
  return { ...kept, ...after };
}

/** The text is read again: it must say what the edit means, and nothing else. */
function checkEffect(text: string, expected: Json): void {
  const document = parseDocument(text, { version: '1.2', merge: true, uniqueKeys: false, logLevel: 'silent' });
  const isAsMeant = document.errors.length === 0 && encodeCanonicalJson(dataOf(document)) === encodeCanonicalJson(expected);
  if (!isAsMeant) throw refuse('ui-edit-place', 'the file is written in a form that the page cannot edit', 'edit the file');
}
