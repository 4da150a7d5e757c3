/** The failure of a stage as plain data for reports. */
import { isCodedError } from '../../base/coded-error.js';
import { InternalError } from '../../base/invariant.js';
import type { Json } from '../../base/json.js';
import { DISK_FULL, FORBIDDEN, hasCode } from '../../base/system-error.js';
import { messageOf } from './engine-error.js';

/** One failed stage: the error's stable code and message, its causes, and the path of its log. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly help: string | undefined;
  readonly details: Json;
  /** Messages of the causes, outermost first. */
  readonly causes: readonly string[];
  /** Set for internal errors and for errors without a code, because the plugin's author needs it. */
  readonly stack: string | undefined;
  /** Relative to the project folder. */
  readonly logPath: string | undefined;
}

/** Converts anything thrown to a Failure. An error without a code is a defect of the plugin: `stage-crashed`. */
export function toFailure(error: unknown): Failure {
  if (isCodedError(error)) {
    return { ...blank, code: error.code, message: error.message, help: error.help, details: error.details, causes: causesOf(error) };
  }
  if (error instanceof InternalError) return { ...blank, code: 'internal', message: error.message, stack: error.stack };
  if (error instanceof Error) {
    const system = systemFailure(error);
    if (system !== undefined) return system;
    return { ...blank, code: 'stage-crashed', message: error.message, causes: causesOf(error), stack: error.stack };
  }
  return { ...blank, code: 'stage-crashed', message: String(error) };
}

/** Returns a failure that the user can fix: a full disk, a folder that cannot be written, a name that is too long. */
function systemFailure(error: Error): Failure | undefined {
  if (hasCode(error, ...DISK_FULL)) {
    return { ...blank, code: 'disk-full', message: `no space left: ${error.message}`, help: 'free space and build again; nothing is lost' };
  }
  if (hasCode(error, 'EROFS', ...FORBIDDEN)) {
    return { ...blank, code: 'not-permitted', message: messageOf(error), help: 'make the folder writable and build again' };
  }
  if (hasCode(error, 'ENAMETOOLONG')) {
    return { ...blank, code: 'name-too-long', message: error.message, help: 'shorten the name: most file systems take 255 bytes' };
  }
  return undefined;
}

const blank: Failure = {
  code: 'stage-crashed',
  message: '',
  help: undefined,
  details: null,
  causes: [],
  stack: undefined,
  logPath: undefined,
};

function causesOf(error: Error): readonly string[] {
  const causes: string[] = [];
  for (let cause = error.cause; cause !== undefined && causes.length < 8; cause = cause instanceof Error ? cause.cause : undefined) {
    causes.push(cause instanceof Error ? cause.message : String(cause));
  }
  return causes;
}
