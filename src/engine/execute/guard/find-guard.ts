/** Selection of the guard for a build that asks for one, depending on what this machine supports. */
import { EngineError } from '../../model/engine-error.js';
import type { Guard } from './guard.js';
import { findSandbox } from './sandbox.js';
import { combine, findStrict } from './strict.js';

export interface GuardWish {
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
export async function findGuard(wish: GuardWish, environment: Readonly<Record<string, string | undefined>>): Promise<FoundGuard> {
  const strict = wish.strict === 'yes' ? findStrict(environment) : undefined;
  if (wish.sandbox === 'no' && strict !== undefined) return { guard: strict, instead: undefined };
  const sandbox = await findSandbox();
  if (sandbox.kind === 'impossible') throw unavailable(wish, sandbox.why);
  if (strict !== undefined) return { guard: combine(sandbox.guard, strict), instead: undefined };
  return { guard: sandbox.guard, instead: wish.strict === 'yes' ? INSTEAD : undefined };
}

const INSTEAD = {
  code: 'strict-by-sandbox',
  message:
    'no strace can trace here: stages run in the sandbox, where what they have not declared is not there; what they look for is not named',
} as const;

function unavailable({ sandbox }: GuardWish, why: string): EngineError {
  if (sandbox === 'yes') {
    return new EngineError('sandbox-unavailable', `there can be no sandbox here: ${why}`, {
      help: 'build without --sandbox, or allow user namespaces; docs/sandbox.md says what it needs',
    });
  }
  return new EngineError('strict-unavailable', `nothing here can watch stages: no strace can trace, and there can be no sandbox (${why})`, {
    help: 'install strace, or build without --strict',
  });
}
