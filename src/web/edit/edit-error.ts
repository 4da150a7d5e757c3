/** Why an edit of the pipeline file is refused. */
import { messageOf } from '../../engine/model/engine-error.js';
import { RequestError } from '../http/read-body.js';

/** 409: the file or its form does not allow the edit. Codes: docs/errors.md, section "page". */
export function refuse(code: 'ui-edit-place' | 'ui-edit-changed' | 'ui-edit-invalid', message: string, help?: string): RequestError {
  return new RequestError(409, code, message, help);
}

/** 422: the disk or its permissions do not allow it. */
export function refuseWrite(error: unknown): RequestError {
  const help = 'free space, or make the pipeline file, its folder and cache/ writable; the pipeline file was not changed';
  return new RequestError(422, 'ui-edit-not-written', `the edit cannot be written: ${messageOf(error)}`, help);
}
