/** Reads the edit of a request. */
import { formatJsonProblems, readJsonShape } from '../../base/json/json-shape.js';
import type { JsonObject } from '../../base/json.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import type { Plan, PlannedStage, StageId } from '../../engine/model/plan.js';
import { RULE_FACTS } from '../../onnx/rules/generated/rule-facts.js';
import { RequestError } from '../http/read-body.js';
import { type CompiledInput, findRewrite, getCompiledModel } from '../project/compiled-model.js';
import { refuse } from './edit-error.js';
import { EDIT_SCHEMA, type Edit, type EditedStage } from './edit-schema.js';

const reader = readerOf(EDIT_SCHEMA);

const LONGEST_NAME = 1000;

/** @returns the edit, and the stage of the pipeline file that it changes. @throws RequestError `ui-bad-request`, `ui-edit-place`. */
export function parseEdit(body: JsonObject, plan: Plan): { readonly edit: Edit; readonly place: EditedStage } {
  const read = readJsonShape(reader, body);
  if (read.kind === 'problems') throw bad(`the edit is malformed: ${formatJsonProblems(read.problems).slice(0, 3).join('; ')}`);
  const edit = read.value;
  if (edit.kind === 'param') {
    const effective = Object.hasOwn(plan.params, edit.name) ? plan.params[edit.name] : undefined;
    return { edit, place: { group: '', item: undefined, ...(effective === undefined ? {} : { effective }) } };
  }
  if (edit.kind === 'rule') return { edit, place: placeOfRule(edit, plan) };
  const planned = plan.stages.get(edit.stage as StageId);
  if (planned === undefined || planned.plugin.name !== 'quantize') throw bad('an edit of a value needs a stage that uses "quantize"');
  if (edit.value.length > LONGEST_NAME) throw bad(`the name of the value has more than ${LONGEST_NAME} characters`);
  return { edit, place: placeOf(planned) };
}

function placeOfRule({ stage, model, rule }: Extract<Edit, { kind: 'rule' }>, plan: Plan): EditedStage {
  if (!Object.hasOwn(RULE_FACTS, rule)) throw bad(`there is no rewrite rule "${rule.slice(0, 80)}"`);
  const compiled = getCompiledModel(plan, stage, model);
  const found = findRewrite(plan, compiled.ref);
  if (found.kind === 'new') return { ...placeOf(compiled.stage), added: { group: compiled.stage.group, input: inputOf(compiled), model } };
  const planned = found.kind === 'none' ? undefined : plan.stages.get(found.stage as StageId);
  if (planned !== undefined) return placeOf(planned);
  const reason = found.kind === 'none' ? found.reason : 'its stage is gone';
  throw refuse('ui-edit-place', `no place for a rule for ${model}: ${reason}`, 'edit the file');
}

/** "models.NAME": the name may have dots. */
function inputOf({ input }: CompiledInput): readonly string[] {
  return input === 'model' ? [input] : ['models', input.slice('models.'.length)];
}

function placeOf({ id, group }: PlannedStage): EditedStage {
  return { group, item: id === group ? undefined : id.slice(group.length + 1) };
}

function bad(message: string): RequestError {
  return new RequestError(400, 'ui-bad-request', message);
}
