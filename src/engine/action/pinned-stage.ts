/** A pinned stage: its action, with all observations that determined it. */
import type { JsonObject } from '../../base/json.js';
import type { ActionKey } from '../model/action-key.js';
import type { Artifact } from '../model/artifact.js';
import type { InputRef } from '../model/plan.js';
import type { TreeEntry } from '../store/files/tree.js';
import type { PinnedCode } from './code/pinned-code.js';
import { keyOf, withDevice } from './manifest.js';
import type { PinnedTool } from './tools.js';

/** One input with its content, and the stamps that show whether it has changed since. */
export interface PinnedInput {
  readonly port: string;
  readonly entry: string | undefined;
  readonly ref: InputRef;
  /** Absolute. */
  readonly path: string;
  readonly artifact: Artifact;
  readonly signature: string;
  /** Stamps of the links on the path of a source; '' for an artifact. */
  readonly links: string;
  readonly proof: 'settled' | 'racy';
  /** For a source folder: the entries behind its digest. */
  readonly tree?: readonly TreeEntry[];
}

/** An action, with all observations that determined it. */
export interface PinnedStage extends ObservedInputs {
  readonly key: ActionKey;
  readonly manifest: JsonObject;
}

/** The observations that determine an action besides the plan: everything that may change later, in its observed state. */
export interface ObservedInputs {
  readonly inputs: readonly PinnedInput[];
  readonly tools: readonly PinnedTool[];
  readonly code: PinnedCode;
}

/** Whether the input is an artifact of a result that stayed on a server, so that nothing is at its path. */
export function isUnpublished({ ref, signature }: PinnedInput): boolean {
  return ref.kind === 'artifact' && signature === '';
}

/** Returns "source a.txt" or "artifact a.text". */
export function nameOf({ ref }: PinnedInput): string {
  return ref.kind === 'source' ? `source ${ref.path}` : `artifact ${ref.stage}.${ref.port}`;
}

/** The key is computed on demand, because a quick key is often sufficient. */
export function pinnedStage(manifest: JsonObject, { inputs, tools, code }: ObservedInputs): PinnedStage {
  let key: ActionKey | undefined;
  return {
    manifest,
    inputs,
    tools,
    code,
    get key() {
      key ??= keyOf(manifest);
      return key;
    },
  };
}

/** Returns the same action on the device with its current identity. */
export function pinDevice(pinned: PinnedStage, identity: JsonObject): PinnedStage {
  return pinnedStage(withDevice(pinned.manifest, identity), pinned);
}
