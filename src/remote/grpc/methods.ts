/** The methods of the Remote Execution API, of ByteStream and of long-running operations that a client uses. */
import type { Message } from '../wire/codec.js';
import {
  ACTION_RESULT,
  BATCH_HAS_READ,
  BATCH_READ,
  BATCH_UPDATE,
  BATCH_UPDATED,
  CANCEL_OPERATION,
  CAPABILITIES,
  EMPTY,
  EXECUTE,
  FIND_MISSING,
  GET_CAPABILITIES,
  GET_RESULT,
  HAS_READ,
  MISSING,
  OPERATION,
  QUERY_WRITE,
  READ,
  UPDATE_RESULT,
  WAIT_EXECUTION,
  WRITE,
  WRITE_STATUS,
  WRITTEN,
} from '../wire/reapi.js';

export interface Method<Question, Answer> {
  /** `/package.Service/Method`. */
  readonly path: string;
  readonly question: Message<Question>;
  readonly answer: Message<Answer>;
}

function method<Question, Answer>(path: string, question: Message<Question>, answer: Message<Answer>): Method<Question, Answer> {
  return { path, question, answer };
}

const V2 = '/build.bazel.remote.execution.v2';
const CAS = `${V2}.ContentAddressableStorage`;
const BYTE_STREAM = '/google.bytestream.ByteStream';

export const METHODS = {
  getCapabilities: method(`${V2}.Capabilities/GetCapabilities`, GET_CAPABILITIES, CAPABILITIES),
  getResult: method(`${V2}.ActionCache/GetActionResult`, GET_RESULT, ACTION_RESULT),
  updateResult: method(`${V2}.ActionCache/UpdateActionResult`, UPDATE_RESULT, ACTION_RESULT),
  findMissing: method(`${CAS}/FindMissingBlobs`, FIND_MISSING, MISSING),
  batchUpdate: method(`${CAS}/BatchUpdateBlobs`, BATCH_UPDATE, BATCH_UPDATED),
  batchRead: method(`${CAS}/BatchReadBlobs`, BATCH_READ, BATCH_HAS_READ),
  read: method(`${BYTE_STREAM}/Read`, READ, HAS_READ),
  write: method(`${BYTE_STREAM}/Write`, WRITE, WRITTEN),
  queryWrite: method(`${BYTE_STREAM}/QueryWriteStatus`, QUERY_WRITE, WRITE_STATUS),
  execute: method(`${V2}.Execution/Execute`, EXECUTE, OPERATION),
  waitExecution: method(`${V2}.Execution/WaitExecution`, WAIT_EXECUTION, OPERATION),
  cancel: method('/google.longrunning.Operations/CancelOperation', CANCEL_OPERATION, EMPTY),
} as const;
