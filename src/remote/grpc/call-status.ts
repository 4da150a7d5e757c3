/** The status of a gRPC call as an error of a remote cache. */
import { type ServiceError, status } from '@grpc/grpc-js';
import { clipText } from '../../base/text/clip-text.js';
import { broken, RemoteError, refused, unavailable } from '../error/remote-error.js';
import type { Of } from '../wire/codec.js';
import { PRECONDITION_FAILURE, RETRY_INFO, STATUS } from '../wire/reapi.js';

const DETAILS = 'grpc-status-details-bin';

/** @param mask precedes clipping: a part of a secret would not be recognized. */
export function errorOfCall(error: ServiceError, method: string, mask: (text: string) => string): RemoteError {
  const details = detailsOf(error);
  return errorOfStatus(error.code, mask(error.details), method, waitOf(details), missingIn(details));
}

type Details = Of<typeof STATUS>['details'];

/** @param details masked. @param method such as "FindMissingBlobs", for the message. */
export function errorOfStatus(
  code: number,
  details: string,
  method: string,
  waitMs?: number,
  missingBlobs?: readonly string[],
): RemoteError {
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
      return missingBlobs === undefined ? broken(said) : new RemoteError('remote-broken', 'broken', said, { missingBlobs });
  }
}

/** The details of a failed call; none if they cannot be read, because they are hints. */
function detailsOf({ metadata }: ServiceError): Details {
  const [value] = metadata?.get(DETAILS) ?? [];
  if (!(value instanceof Uint8Array)) return [];
  return readHint(() => STATUS.decode(value).details) ?? [];
}

/** The wait that a server asks for by google.rpc.RetryInfo. */
function waitOf(details: Details): number | undefined {
  const delay = readHint(() => {
    const info = details.find(({ typeUrl }) => typeUrl.endsWith('/google.rpc.RetryInfo'));
    return info === undefined ? undefined : RETRY_INFO.decode(info.value).retryDelay;
  });
  return delay === undefined ? undefined : delay.seconds * 1000 + delay.nanos / 1e6;
}

/** The blobs that a worker lacks by google.rpc.PreconditionFailure, as "hash/size"; undefined if the details name none. */
export function missingIn(details: Details): readonly string[] | undefined {
  const found = details
    .filter(({ typeUrl }) => typeUrl.endsWith('/google.rpc.PreconditionFailure'))
    .flatMap(({ value }) => readHint(() => PRECONDITION_FAILURE.decode(value).violations) ?? [])
    .flatMap(({ type, subject }) => (type === 'MISSING' ? [subject.split('/').slice(-2).join('/')] : []));
  return found.length === 0 ? undefined : found;
}

/** A hint that cannot be read is no hint. */
function readHint<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
