/** Plans the edit that adds a rewrite rule: to the list of the stage, or of its `foreach` item. */
import { type Document, isMap, isScalar, isSeq, type Node, type YAMLMap, type YAMLSeq } from 'yaml';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.js';
import { refuse } from './edit-error.js';
import type { Edit, EditedStage } from './edit-schema.js';
import { dataOf, getMap, type Planned, shared, valueAt, withValue } from './file-place.js';
import { addItem, addMember } from './insert-yaml.js';

type RuleEdit = Extract<Edit, { kind: 'rule' }>;

/** @throws RequestError `ui-edit-place`. */
export function planRule(text: string, document: Document, root: YAMLMap, { rule, form }: RuleEdit, place: EditedStage): Planned {
  // The rule was tried wherever it applies, and other models of the list may lack its operators.
  const entry: JsonObject = { name: rule, ...(form === undefined ? {} : { form }), matches: 'any' };
  const before = dataOf(document);
  const stage = getMap(document, root, ['stages', place.group]);
  const settings = stage.get('with', true) as Node | undefined;
  const path = ['stages', place.group, 'with', 'rules'];
  if (settings === undefined)
    return { changes: [addMember(text, stage, 'with', { rules: [entry] })], path, expected: withValue(before, path, [entry]) };
  if (!isMap(settings) || settings.anchor !== undefined) throw shared(path.slice(0, 3), settings);
  if (settings.items.some(({ key }) => isScalar(key) && (typeof key.value === 'symbol' || key.value === '<<')))
    throw refuse('ui-edit-place', `${path.slice(0, 3).join('.')} merges another map`, 'edit the file');
  const own = settings.get('rules', true) as Node | undefined;
  if (own === undefined)
    return { changes: [addMember(text, settings, 'rules', [entry])], path, expected: withValue(before, path, [entry]) };
  if (isSeq(own)) return planItem(text, own, path, before, entry);
  const inner = innerPath(own);
  if (inner === undefined || place.item === undefined) throw shared(path, own);
  return planInItem(text, document, root, { path: ['stages', place.group, 'foreach', place.item, ...inner], before, entry });
}

/** "${item.rules}" → ["rules"]; undefined for another text. */
function innerPath(node: Node): readonly string[] | undefined {
  const found = isScalar(node) && typeof node.value === 'string' ? /^\$\{item(?:\.([\w.-]+))?\}$/.exec(node.value) : null;
  return found === null ? undefined : (found[1]?.split('.') ?? []);
}

interface ItemOrder {
  readonly path: readonly string[];
  readonly before: Json;
  readonly entry: JsonObject;
}

function planInItem(text: string, document: Document, root: YAMLMap, { path, before, entry }: ItemOrder): Planned {
  const depth = path.indexOf('foreach') + 1;
  let node: unknown = getMap(document, root, path.slice(0, depth));
  for (const [index, key] of path.slice(depth).entries()) {
    const isOwn = isMap(node) && (index === 0 || node.anchor === undefined);
    if (!isOwn) throw shared(path.slice(0, depth + index), node);
    node = (node as YAMLMap).get(key, true);
  }
  if (!isSeq(node)) throw shared(path, node);
  return planItem(text, node, path, before, entry);
}

function planItem(text: string, list: YAMLSeq, path: readonly string[], before: Json, entry: JsonObject): Planned {
  if (list.anchor !== undefined) throw shared(path, list);
  const items = (valueAt(before, path) ?? []) as readonly Json[];
  if (items.some(item => isJsonObject(item) && item.name === entry.name && item.form === entry.form && item.select === undefined))
    throw refuse(
      'ui-edit-place',
      `${path.join('.')} has the rule ${entry.name} already`,
      'build the pipeline: the trial is of the last result',
    );
  return { changes: [addItem(text, list, entry)], path, expected: withValue(before, path, [...items, entry]) };
}
