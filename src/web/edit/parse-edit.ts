/** Reads the edit of a request. */
import { isJsonObject, type Json, type JsonObject } from '../../base/json.js';
import type { Plan, StageId } from '../../engine/model/plan.js';
import { RequestError } from '../http/read-body.js';
import type { Edit } from './plan-edit.js';

/** Settings of a tensor that the page changes: docs/stages/quantize.md. The plan checks their values. */
const SETTINGS = ['dtype', 'range', 'symmetric', 'scale', 'zeroPoint'];

/** @throws RequestError `ui-bad-request`. */
export function parseEdit(body: JsonObject, plan: Plan): { readonly edit: Edit; readonly group: string } {
  const { kind, stage, value, set, name, to } = body;
  if (kind === 'param') {
    if (typeof name !== 'string' || !isScalar(to)) throw bad('an edit of a parameter needs its name and a plain value');
    return { edit: { kind, name, to }, group: '' };
  }
  const planned = typeof stage === 'string' ? plan.stages.get(stage as StageId) : undefined;
  if (planned === undefined || planned.plugin.name !== 'quantize') throw bad('an edit of a value needs a stage that uses "quantize"');
  if (typeof value !== 'string' || value === '' || value.length > 1000) throw bad('the name of the value is missing');
  if (kind === 'exclude') return { edit: { kind, stage: planned.id, value }, group: planned.group };
  if (kind !== 'override' || !isJsonObject(set) || Object.keys(set).length === 0 || Object.keys(set).some(key => !SETTINGS.includes(key)))
    throw bad('the kind of edit is unknown, or its settings are');
  return { edit: { kind, stage: planned.id, value, set }, group: planned.group };
}

function isScalar(value: Json | undefined): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
}

function bad(message: string): RequestError {
  return new RequestError(400, 'ui-bad-request', message);
}
