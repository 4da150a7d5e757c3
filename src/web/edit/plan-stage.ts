/** Plans the edit that adds a stage with a rewrite rule directly before the stage that compiles a model. */
import { type Document, isScalar, type Node, type YAMLMap } from 'yaml';
import type { JsonObject } from '../../base/json.js';
import { refuse } from './edit-error.js';
import type { Edit, NewStage } from './edit-schema.js';
import { dataOf, getMap, type Planned, shared, withValue } from './file-place.js';
import { addMember, replaceNode } from './insert-yaml.js';

/** The model that is compiled becomes that of the new stage, at the end of the file's stages. @throws RequestError `ui-edit-place`. */
export function planStage(
  text: string,
  document: Document,
  root: YAMLMap,
  { rule, form }: Extract<Edit, { kind: 'rule' }>,
  { group, input, model }: NewStage,
): Planned {
  const path = ['stages', group, 'inputs', ...input];
  const entry = getMap(document, root, path.slice(0, -1)).get(path.at(-1), true) as Node | undefined;
  if (!isScalar(entry) || typeof entry.value !== 'string' || /\$\{(?:item|key|matrix)\b/.test(entry.value) || entry.anchor !== undefined)
    throw shared(path, entry);
  const stages = getMap(document, root, ['stages']);
  const name = `rewrite-${model.replaceAll(/[^\w-]+/g, '-')}`;
  if (stages.has(name)) throw refuse('ui-edit-place', `the file has a stage ${name} already`, 'add the rule to it, or edit the file');
  const rules: JsonObject = { rules: [{ name: rule, ...(form === undefined ? {} : { form }), matches: 'any' }] };
  const stage: JsonObject = { uses: 'rewrite', with: rules, inputs: { model: entry.value } };
  const before = withValue(dataOf(document), path, `${name}.model`);
  return {
    changes: [replaceNode(entry, `${name}.model`), addMember(text, stages, name, stage)],
    path: ['stages', name],
    expected: withValue(before, ['stages', name], stage),
  };
}
