/** Errors of a remote cache, with what they mean for the next call. */
import { CodedError } from '../../base/coded-error.js';

/**
 * What a failed call says about the next one: 'passing' may succeed when it is repeated; 'refused' and 'broken' will not.
 * 'missing' and 'unsupported' are no troubles: the server lacks the content, or the method.
 */
export type Trouble = 'passing' | 'refused' | 'broken' | 'missing' | 'unsupported';

/** Codes: docs/errors.md, section "remote cache". */
export class RemoteError extends CodedError {
  override readonly name = 'RemoteError';
  readonly trouble: Trouble;
  /** How long the server asks to wait before the call is repeated. */
  readonly waitMs: number | undefined;
  /** Of an execution that lacks blobs: those that the server names, as "hash/size". */
  readonly missingBlobs: readonly string[] | undefined;

  constructor(
    code: string,
    trouble: Trouble,
    message: string,
    options: { waitMs?: number | undefined; missingBlobs?: readonly string[] | undefined; help?: string; cause?: unknown } = {},
  ) {
    const { waitMs, missingBlobs, ...others } = options;
    super(code, message, others);
    this.trouble = trouble;
    this.waitMs = waitMs;
    this.missingBlobs = missingBlobs;
  }
}

export function isPassing(error: unknown): error is RemoteError {
  return error instanceof RemoteError && error.trouble === 'passing';
}

export function isTrouble(error: unknown, trouble: Trouble): boolean {
  return error instanceof RemoteError && error.trouble === trouble;
}

/** The server does not answer, or answers that it cannot serve now. */
export function unavailable(message: string, waitMs?: number): RemoteError {
  return new RemoteError('remote-unavailable', 'passing', message, { waitMs });
}

/** The server rejects the credentials, or answers with a redirect, which is never followed. */
export function refused(message: string, help: string): RemoteError {
  return new RemoteError('remote-refused', 'refused', message, { help });
}

/** The server's answer is not one that the protocol allows, or it does not take what was sent. */
export function broken(message: string): RemoteError {
  return new RemoteError('remote-broken', 'broken', message);
}

/** Bytes that do not have the digest under which they were asked for. */
export function damaged(message: string): RemoteError {
  return new RemoteError('remote-damaged', 'broken', message);
}
