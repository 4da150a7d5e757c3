/** Why an edit of the pipeline file is refused. */
import { RequestError } from '../http/read-body.js';

/** 409: the file or its form does not allow the edit. Codes: docs/errors.md, section "page". */
export function refuse(code: 'ui-edit-place' | 'ui-edit-changed' | 'ui-edit-invalid', message: string, help?: string): RequestError {
  return new RequestError(409, code, message, help);
}
