/** Checks whether an input or a program of an action has changed since it was pinned. */
import { EngineError } from '../model/engine-error.js';
import type { InputDigests, PinnedSource } from '../store/input-digests.js';
import { publishedSignature } from '../store/published.js';
import type { PinnedInput } from './pinned-stage.js';
import type { PinnedTool } from './tools.js';

export async function hasChanged(input: PinnedInput, digests: InputDigests): Promise<boolean> {
  // What stayed on a server has no signature, and nothing at its path.
  if (input.ref.kind === 'artifact') return (publishedSignature(input.path, input.artifact.kind) ?? '') !== input.signature;
  try {
    return differs(digests.find(input.ref.path) ?? (await digests.digest(input.ref.path)), input);
  } catch (error) {
    if (error instanceof EngineError) return true;
    throw error;
  }
}

/** Also true if another file is now found under the program's name. */
export async function hasToolChanged(tool: PinnedTool, read: (name: string) => Promise<PinnedTool>): Promise<boolean> {
  try {
    const now = await read(tool.name);
    return now.path !== tool.path || differs(now.source, tool.source);
  } catch (error) {
    if (error instanceof EngineError) return true;
    throw error;
  }
}

function differs(now: PinnedSource, before: Pick<PinnedSource, 'signature' | 'links' | 'artifact'>): boolean {
  return now.signature !== before.signature || now.links !== before.links || now.artifact.digest !== before.artifact.digest;
}
