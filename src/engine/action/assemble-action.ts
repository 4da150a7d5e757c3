/** The action of a stage from its observed inputs, programs and code. */
import { isAbsolute } from 'node:path';
import type { Digest } from '../../base/digest.js';
import { getDefined } from '../../base/invariant.js';
import type { Artifact } from '../model/artifact.js';
import { artifactPath } from '../model/artifact-path.js';
import { EngineError } from '../model/engine-error.js';
import type { KnownResult } from '../model/known-result.js';
import type { InputRef, Plan, PlannedStage, StageId } from '../model/plan.js';
import type { PinnedSource } from '../store/input-digests.js';
import type { KnownDevice } from '../store/state.js';
import { digestStagesBefore } from './build-summary.js';
import { type CodeRoot, codeOf, type PinnedCode } from './code/pinned-code.js';
import { findDevice, toolsOf } from './declared.js';
import { hostOf } from './host.js';
import { makeManifest, type PinnedPort } from './manifest.js';
import { type PinnedInput, type PinnedStage, pinnedStage } from './pinned-stage.js';
import type { PinnedTool } from './tools.js';

/** The functions that supply the parts of an action. */
export interface InputLookup {
  readonly source: (path: string) => PinnedSource | undefined;
  readonly tool: (name: string) => PinnedTool | undefined;
  readonly code: (root: CodeRoot) => PinnedCode | undefined;
  readonly platformClass: () => string | undefined;
  readonly result: (stage: StageId) => KnownResult | undefined;
}

export interface ActionContext {
  readonly plan: Plan;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly devices: ReadonlyMap<Digest, KnownDevice>;
}

/** Returns undefined if `lookup` lacks a part. @throws EngineError. */
export function assembleAction(
  { plan, environment, devices }: ActionContext,
  stage: PlannedStage,
  lookup: InputLookup,
): PinnedStage | undefined {
  const pinned = pinInputs(plan, stage, lookup);
  if (pinned === undefined) return undefined;
  const { plugin } = stage.plugin;
  const code = lookup.code(codeOf(stage.plugin));
  const modelClass = plugin.runsModels === 'always' ? lookup.platformClass() : undefined;
  if (code === undefined || (plugin.runsModels === 'always' && modelClass === undefined)) return undefined;
  const tools: PinnedTool[] = [];
  for (const name of toolsOf(stage)) {
    const tool = lookup.tool(name);
    if (tool === undefined) return undefined;
    tools.push(tool);
  }
  const manifest = makeManifest({
    plugin: plugin.name,
    version: plugin.version,
    code: code.digest,
    params: stage.params,
    inputs: pinned.ports,
    tools: Object.fromEntries(tools.map(({ name, source }) => [name, source.artifact.digest])),
    env: Object.fromEntries(stage.env.map(name => [name, environment[name]])),
    secrets: Object.fromEntries(stage.secrets.map(name => [name, environment[name] === undefined ? 'not set' : 'set'])),
    platformClass: modelClass,
    host: stage.determinism === 'measured' ? hostOf(stage) : undefined,
    build: plugin.needs === 'build-summary' ? digestStagesBefore(plan, stage, lookup.result) : undefined,
    device: findDevice(stage, devices)?.identity,
  });
  return pinnedStage(manifest, { inputs: pinned.inputs, tools, code });
}

interface PinnedInputs {
  readonly inputs: readonly PinnedInput[];
  readonly ports: Readonly<Record<string, PinnedPort>>;
}

function pinInputs(plan: Plan, stage: PlannedStage, lookup: InputLookup): PinnedInputs | undefined {
  const inputs: PinnedInput[] = [];
  const ports: Record<string, PinnedPort> = {};
  for (const [port, binding] of Object.entries(stage.inputs)) {
    const named: readonly (readonly [string | undefined, InputRef])[] =
      binding.kind === 'record' ? Object.entries(binding.entries) : [[undefined, binding]];
    const entries: Record<string, Artifact> = {};
    for (const [entry, ref] of named) {
      const pinned = pinRef(plan, ref, lookup);
      if (pinned === undefined) return undefined;
      inputs.push({ port, entry, ref, ...pinned });
      if (entry === undefined) ports[port] = pinned.artifact;
      else entries[entry] = pinned.artifact;
    }
    if (binding.kind === 'record') ports[port] = { entries };
  }
  return { inputs, ports };
}

function pinRef(plan: Plan, ref: InputRef, lookup: InputLookup): Omit<PinnedInput, 'port' | 'entry' | 'ref'> | undefined {
  if (ref.kind === 'source') {
    const source = lookup.source(ref.path);
    return source === undefined ? undefined : { path: isAbsolute(ref.path) ? ref.path : `${plan.projectFolder}/${ref.path}`, ...source };
  }
  const producer = getDefined(plan.stages.get(ref.stage), ref.stage);
  const output = getDefined(lookup.result(ref.stage), `result of ${ref.stage}`).outputs[ref.port];
  if (output === undefined) {
    throw new EngineError('input-missing', `${ref.stage} did not write its optional output "${ref.port}"`, {
      help: 'connect another output, or remove the input',
    });
  }
  const { signature, ...artifact } = output;
  return { path: `${plan.projectFolder}/${artifactPath(plan, producer, ref.port)}`, artifact, signature, links: '', proof: 'settled' };
}
