/** What can change the bytes of a stage's outputs? The action manifest names it all; its digest is the action's key. */
import type { Digest } from '../../base/digest.js';
import { digestBytes, digestJson } from '../../base/digest.js';
import type { JsonObject } from '../../base/json.js';
import type { ActionKey } from '../model/action-key.js';
import type { Artifact } from '../model/artifact.js';
import { labelVariable } from './variable.js';

/** An input port with its content pinned: one artifact, or a record of them. */
export type PinnedPort = Artifact | { readonly entries: Readonly<Record<string, Artifact>> };

export interface ActionFacts {
  readonly plugin: string;
  readonly version: number;
  readonly code: Digest;
  readonly params: JsonObject;
  readonly inputs: Readonly<Record<string, PinnedPort>>;
  /** Digest of each program's file, by the name that the plugin uses. */
  readonly tools: Readonly<Record<string, Digest>>;
  /** Values of the declared environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Which declared secrets are set. */
  readonly secrets: Readonly<Record<string, 'set' | 'not set'>>;
  /** Only where the plugin runs models. */
  readonly platformClass: string | undefined;
  /** Only where the plugin measures. */
  readonly host: string | undefined;
  /** Digest of what is known of each stage before this one; only where the plugin needs a summary of the build. */
  readonly build: Readonly<Record<string, Digest>> | undefined;
  /** Only where the plugin measures on a device that was started before: what it said it is. */
  readonly device: JsonObject | undefined;
}

/** The labelled document of an action: canonical, without times, paths or anything else that does not change bytes. */
export function makeManifest(facts: ActionFacts): JsonObject {
  return {
    format: 1,
    plugin: facts.plugin,
    version: facts.version,
    code: facts.code,
    params: facts.params,
    inputs: mapValues(facts.inputs, port => ('entries' in port ? mapValues(port.entries, encodeInput) : encodeInput(port))),
    ...(isEmpty(facts.tools) ? {} : { tools: facts.tools }),
    ...(isEmpty(facts.env) ? {} : { env: mapValues(facts.env, encodeVariable) }),
    ...(isEmpty(facts.secrets) ? {} : { secrets: facts.secrets }),
    ...(facts.platformClass === undefined ? {} : { platformClass: facts.platformClass }),
    ...(facts.host === undefined ? {} : { host: facts.host }),
    ...(facts.build === undefined ? {} : { build: facts.build }),
    ...(facts.device === undefined ? {} : { device: facts.device }),
  };
}

/** The manifest of the same action on the device as it says it is now. */
export function withDevice(manifest: JsonObject, device: JsonObject): JsonObject {
  return { ...withoutDevice(manifest), device };
}

/** The manifest under which a result stands that only a lock pairs with this action. */
export function asLocked(manifest: JsonObject): JsonObject {
  return { ...manifest, locked: true };
}

/** What a run gets its random numbers from: the key of the action on whatever device, so that every device is measured on the same ones. */
export function seedOf(manifest: JsonObject): string {
  return keyOf(withoutDevice(manifest));
}

function withoutDevice({ device: _, ...others }: JsonObject): JsonObject {
  return others;
}

export function keyOf(manifest: JsonObject): ActionKey {
  return digestJson(manifest) as string as ActionKey;
}

/**
 * A digest that is cheap to compute: equal ones mean equal manifests. Different ones mean nothing, as the order of params may differ; then keys are compared.
 */
export function quickKeyOf(manifest: JsonObject): Digest {
  return digestBytes(JSON.stringify(manifest));
}

function encodeInput(artifact: Artifact): JsonObject {
  return { kind: artifact.kind, digest: artifact.digest, ...(artifact.executable ? { executable: true } : {}) };
}

/** A variable may hold a secret, and manifests are kept and shown: its digest stands for it. */
/** A digest: the value may be a secret. Null where the variable is not set. */
export function encodeVariable(value: string | undefined): Digest | null {
  return value === undefined ? null : digestBytes(labelVariable(value));
}

function mapValues<A, B>(record: Readonly<Record<string, A>>, map: (value: A) => B): Record<string, B> {
  const mapped: Record<string, B> = {};
  for (const name of Object.keys(record)) mapped[name] = map(record[name] as A);
  return mapped;
}

function isEmpty(record: object): boolean {
  return Object.keys(record).length === 0;
}
