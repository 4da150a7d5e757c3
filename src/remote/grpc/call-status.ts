/** The status of a gRPC call as an error of a remote cache. */
import { type ServiceError, status } from '@grpc/grpc-js';
import { clipText } from '../../base/text/clip-text.js';
import { broken, RemoteError, refused, unavailable } from '../error/remote-error.js';
import { RETRY_INFO, STATUS } from '../wire/reapi.js';

const DETAILS = 'grpc-status-details-bin';

export function errorOfCall(error: ServiceError, method: string): RemoteError {
  return errorOfStatus(error.code, error.details, method, waitOf(error));
}

/** @param method such as "FindMissingBlobs", for the message. */
export function errorOfStatus(code: number, details: string, method: string, waitMs?: number): RemoteError {
  const said = `${method}: ${status[code] ?? `status ${code}`}${details === '' ? '' : ` (${clipText(details).slice(0, 200)})`}`;
  switch (code) {
    case status.UNAVAILABLE:
    case status.RESOURCE_EXHAUSTED:
    case status.ABORTED:
    case status.INTERNAL:
    case status.UNKNOWN:
    case status.CANCELLED:
      return unavailable(said, waitMs);
    case status.UNAUTHENTICATED:
    case status.PERMISSION_DENIED:
      return refused(said, 'check the token: the variable that `token` names, its expiry, and its rights on this instance');
    case status.DEADLINE_EXCEEDED:
      return new RemoteError('remote-unavailable', 'broken', `${said}: no answer in time`);
    case status.NOT_FOUND:
      return new RemoteError('remote-missing', 'missing', said);
    case status.UNIMPLEMENTED:
      return new RemoteError('remote-broken', 'unsupported', said);
    default:
      return broken(said);
  }
}

/** The wait that a server asks for by google.rpc.RetryInfo. */
function waitOf({ metadata }: ServiceError): number | undefined {
  const [value] = metadata?.get(DETAILS) ?? [];
  if (!(value instanceof Uint8Array)) return undefined;
  try {
    const info = STATUS.decode(value).details.find(({ typeUrl }) => typeUrl.endsWith('/google.rpc.RetryInfo'));
    const delay = info === undefined ? undefined : RETRY_INFO.decode(info.value).retryDelay;
    return delay === undefined ? undefined : delay.seconds * 1000 + delay.nanos / 1e6;
  } catch {
    // A hint that cannot be read is no hint.
    return undefined;
  }
}
