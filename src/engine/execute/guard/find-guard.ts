/** Selection of the guard for a build that asks for one, depending on what this machine supports. */
import { EngineError } from '../../model/engine-error.js';
import type { Guard } from './guard.js';
import { findSandbox } from './sandbox.js';
import { combine, findStrict } from './strict.js';

export interface GuardRequest {
  /** Hide files that a stage has not declared. */
  readonly sandbox: 'yes' | 'no';
  /** Detect undeclared reads and writes of a stage. */
  readonly strict: 'yes' | 'no';
}

export interface FoundGuard {
  readonly guard: Guard;
  /** The reason why the guard is not exactly the requested one. */
  readonly instead: { readonly code: 'strict-by-sandbox'; readonly message: string } | undefined;
}

/**
 * Tests the requested guard on this machine. Without strace, a sandbox replaces `strict`: undeclared files do not exist in it.
 * @throws EngineError `sandbox-unavailable`, `strict-unavailable`.
 */
export async function findGuard(request: GuardRequest, environment: Readonly<Record<string, string | undefined>>): Promise<FoundGuard> {
  const strict = request.strict === 'yes' ? findStrict(environment) : undefined;
  if (request.sandbox === 'no' && strict !== undefined) return { guard: strict, instead: undefined };
  const sandbox = await findSandbox();
  if (sandbox.kind === 'impossible') throw unavailable(request, sandbox.why);
  if (strict !== undefined) return { guard: combine(sandbox.guard, strict), instead: undefined };
  return { guard: sandbox.guard, instead: request.strict === 'yes' ? INSTEAD : undefined };
}

const INSTEAD = {
  code: 'strict-by-sandbox',
  message:
    'strace cannot trace here: stages run in the sandbox, which hides undeclared files, but does not name those that a stage looks for',
} as const;

function unavailable({ sandbox }: GuardRequest, why: string): EngineError {
  if (sandbox === 'yes') {
    return new EngineError('sandbox-unavailable', `no sandbox is available here: ${why}`, {
      help: 'build without --sandbox, or allow user namespaces; see docs/sandbox.md for its requirements',
    });
  }
  return new EngineError(
    'strict-unavailable',
    `stages cannot be observed here: strace cannot trace, and no sandbox is available (${why})`,
    {
      help: 'install strace, or build without --strict',
    },
  );
}
