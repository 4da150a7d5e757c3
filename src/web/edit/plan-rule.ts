/** Plans the edit that adds a rewrite rule: to the list of the stage, or of its `foreach` item. */
import type { Document, Node, YAMLMap } from 'yaml';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.js';
import { refuse } from './edit-error.js';
import type { Edit, EditedStage } from './edit-schema.js';
import { dataOf, getList, getMap, getSettings, type PlacedList, type Planned, valueAt, withValue } from './file-place.js';
import { addItem, addMember } from './insert-yaml.js';

type RuleEdit = Extract<Edit, { kind: 'rule' }>;

/** @throws RequestError `ui-edit-place`. */
export function planRule(text: string, document: Document, root: YAMLMap, { rule, form }: RuleEdit, place: EditedStage): Planned {
  // The rule was tried wherever it applies, and other models of the list may lack its operators.
  const entry: JsonObject = { name: rule, ...(form === undefined ? {} : { form }), matches: 'any' };
  const before = dataOf(document);
  const stage = getMap(document, root, ['stages', place.group]);
  const path = ['stages', place.group, 'with', 'rules'];
  const settings = getSettings(document, stage, path.slice(0, 3));
  if (settings === undefined)
    return { changes: [addMember(text, stage, 'with', { rules: [entry] })], path, expected: withValue(before, path, [entry]) };
  const own = settings.get('rules', true) as Node | undefined;
  if (own === undefined)
    return { changes: [addMember(text, settings, 'rules', [entry])], path, expected: withValue(before, path, [entry]) };
  return planItem(text, getList(document, root, own, place, path), before, entry);
}

function planItem(text: string, { list, path }: PlacedList, before: Json, entry: JsonObject): Planned {
  const items = (valueAt(before, path) ?? []) as readonly Json[];
  if (items.some(item => isJsonObject(item) && item.name === entry.name && item.form === entry.form && item.select === undefined))
    throw refuse(
      'ui-edit-place',
      `${path.join('.')} has the rule ${entry.name} already`,
      'build the pipeline: the trial is of the last result',
    );
  return { changes: [addItem(text, list, entry)], path, expected: withValue(before, path, [...items, entry]) };
}
