/** The action manifest, which lists everything that can change the bytes of a stage's outputs. Its digest is the action key. */
import type { Digest } from '../../base/digest.js';
import { digestBytes, digestJson } from '../../base/digest.js';
import type { JsonObject } from '../../base/json.js';
import type { ActionKey } from '../model/action-key.js';
import type { Artifact } from '../model/artifact.js';
import { labelVariable } from './variable.js';

/** An input port with its pinned content: one artifact, or a record of artifacts. */
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
  /** Defined only if the plugin runs models. */
  readonly platformClass: string | undefined;
  /** Defined only if the plugin measures. */
  readonly host: string | undefined;
  /** Digests that describe the stages it depends on. Defined only if the plugin needs a summary of the build. */
  readonly build: Readonly<Record<string, Digest>> | undefined;
  /** The identity that the device reported. Defined only if the plugin measures on a device that was identified before. */
  readonly device: JsonObject | undefined;
}

/** Returns the labeled document of an action. It is canonical and free of times, paths and anything else that does not change bytes. */
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

/** Returns the manifest of the same action on the device with its current identity. */
export function withDevice(manifest: JsonObject, device: JsonObject): JsonObject {
  return { ...withoutDevice(manifest), device };
}

/** Returns the manifest for a result that only a lock assigns to this action. */
export function asLocked(manifest: JsonObject): JsonObject {
  return { ...manifest, locked: true };
}

/** Returns the seed of a run's random numbers: the key of the action without its device, so that all devices are measured with the same numbers. */
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
 * Returns a digest that is cheap to compute. Equal digests mean equal manifests.
 * Different ones prove nothing, because the order of params may differ; the keys are then compared.
 */
export function quickKeyOf(manifest: JsonObject): Digest {
  return digestBytes(JSON.stringify(manifest));
}

function encodeInput(artifact: Artifact): JsonObject {
  return { kind: artifact.kind, digest: artifact.digest, ...(artifact.executable ? { executable: true } : {}) };
}

/** Returns a digest in place of the value, because the value may be a secret, and manifests are stored and shown. Returns null if the variable is not set. */
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
