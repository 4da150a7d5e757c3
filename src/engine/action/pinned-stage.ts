/** An action with everything that was looked at to decide it. */
import type { JsonObject } from '../../base/json.js';
import type { ActionKey } from '../model/action-key.js';
import type { Artifact } from '../model/artifact.js';
import type { InputRef } from '../model/plan.js';
import type { TreeEntry } from '../store/files/tree.js';
import type { PinnedCode } from './code/pinned-code.js';
import { keyOf, withDevice } from './manifest.js';
import type { PinnedTool } from './tools.js';

/** One input with its content, and how to see whether it has changed since. */
export interface PinnedInput {
  readonly port: string;
  readonly entry: string | undefined;
  readonly ref: InputRef;
  /** Absolute. */
  readonly path: string;
  readonly artifact: Artifact;
  readonly signature: string;
  /** Stamps of the links that the path of a source leads over; '' of an artifact. */
  readonly links: string;
  readonly proof: 'settled' | 'racy';
  /** Of a folder among the sources: what its digest is of. */
  readonly tree?: readonly TreeEntry[];
}

/** An action, and all that was looked at to decide it. */
export interface PinnedStage extends Looked {
  readonly key: ActionKey;
  readonly manifest: JsonObject;
}

/** What decides an action besides the plan: everything that can be other a moment later, as it was. */
export interface Looked {
  readonly inputs: readonly PinnedInput[];
  readonly tools: readonly PinnedTool[];
  readonly code: PinnedCode;
}

/** "source a.txt", "artifact a.text". */
export function nameOf({ ref }: PinnedInput): string {
  return ref.kind === 'source' ? `source ${ref.path}` : `artifact ${ref.stage}.${ref.port}`;
}

/** Its key is computed when it is asked for: where a quick key says enough, it is not. */
export function pinnedStage(manifest: JsonObject, { inputs, tools, code }: Looked): PinnedStage {
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

/** The same action on the device as it says it is now. */
export function pinDevice(pinned: PinnedStage, identity: JsonObject): PinnedStage {
  return pinnedStage(withDevice(pinned.manifest, identity), pinned);
}
