/** Reads the edit of a request. */
import { formatJsonProblems, readJsonShape } from '../../base/json/json-shape.js';
import type { JsonObject } from '../../base/json.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import type { Plan, StageId } from '../../engine/model/plan.js';
import { RequestError } from '../http/read-body.js';
import { EDIT_SCHEMA, type Edit } from './edit-schema.js';

const reader = readerOf(EDIT_SCHEMA);

const LONGEST_NAME = 1000;

/** @throws RequestError `ui-bad-request`. */
export function parseEdit(body: JsonObject, plan: Plan): { readonly edit: Edit; readonly group: string } {
  const read = readJsonShape(reader, body);
  if (read.kind === 'problems') throw bad(`the edit is malformed: ${formatJsonProblems(read.problems).slice(0, 3).join('; ')}`);
  const edit = read.value;
  if (edit.kind === 'param') return { edit, group: '' };
  const planned = plan.stages.get(edit.stage as StageId);
  if (planned === undefined || planned.plugin.name !== 'quantize') throw bad('an edit of a value needs a stage that uses "quantize"');
  if (edit.value.length > LONGEST_NAME) throw bad(`the name of the value has more than ${LONGEST_NAME} characters`);
  return { edit, group: planned.group };
}

function bad(message: string): RequestError {
  return new RequestError(400, 'ui-bad-request', message);
}
