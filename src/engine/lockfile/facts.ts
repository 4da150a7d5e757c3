/** The locked part of an action: its manifest without machine-specific entries. Inputs that depend on the platform class are separate. */

import { parseDigest } from '../../base/digest.js';
import { getDefined } from '../../base/invariant.js';
import type { Json, JsonObject } from '../../base/json.js';
import { isJsonObject } from '../../base/json.js';
import type { Content, Contents } from '../model/artifact.js';
import type { PlannedStage, StageId } from '../model/plan.js';
import type { Facts } from './lock.js';
import type { Portability } from './portability.js';
import { namedInputs } from './portability.js';

export interface LockableAction {
  readonly facts: Facts;
  /** Content of the inputs that depend on the platform class. */
  readonly classInputs: Contents;
}

/** @param manifest result of `makeManifest` for this stage. */
export function lockableOf(stage: PlannedStage, manifest: JsonObject, portability: ReadonlyMap<StageId, Portability>): LockableAction {
  const inputs: Record<string, Json> = {};
  const classInputs: Record<string, Content> = {};
  for (const [name, ref] of namedInputs(stage)) {
    const content = findContent(manifest.inputs, name);
    const from = ref.kind === 'source' ? 'same' : getDefined(portability.get(ref.stage), ref.stage);
    inputs[name] = from === 'same' || ref.kind === 'source' ? { ...content } : `${ref.stage}.${ref.port}`;
    if (from === 'per-class') classInputs[name] = content;
  }
  const { plugin, version, code, params, tools, env } = manifest;
  const facts: Facts = {
    plugin: String(plugin),
    version: Number(version),
    code: String(code),
    params: objectOf(params),
    inputs,
    tools: objectOf(tools),
    env: Object.keys(objectOf(env)).sort(),
  };
  return { facts, classInputs };
}

function findContent(inputs: Json | undefined, name: string): Content {
  const dot = name.indexOf('.');
  const port = objectOf(inputs)[dot < 0 ? name : name.slice(0, dot)];
  const { kind, digest, executable } = objectOf(dot < 0 ? port : objectOf(port)[name.slice(dot + 1)]);
  return {
    kind: kind === 'tree' ? 'tree' : 'file',
    digest: getDefined(parseDigest(digest), `content of ${name}`),
    executable: executable === true,
  };
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
