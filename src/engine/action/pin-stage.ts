/** What is a stage's action right now? Every input pinned by digest, the manifest, and its key. */
import { isAbsolute, resolve } from 'node:path';
import type { Digest } from '../../base/digest.js';
import { digestJson } from '../../base/digest.js';
import { getDefined } from '../../base/invariant.js';
import type { JsonObject } from '../../base/json.js';
import type { StagePlugin } from '../../stage/define-stage.js';
import type { StageHold } from '../lockfile/hold.js';
import type { Artifact } from '../model/artifact.js';
import { artifactPath } from '../model/artifact-path.js';
import { refsOf } from '../model/dependencies.js';
import { EngineError } from '../model/engine-error.js';
import type { KnownResult } from '../model/known-result.js';
import type { InputRef, Plan, PlannedStage, StageId } from '../model/plan.js';
import { lookAt } from '../store/files/stamp.js';
import type { TreeEntry } from '../store/files/tree.js';
import type { InputDigests, PinnedSource } from '../store/input-digests.js';
import type { PlatformClass } from '../store/platform-class-cache.js';
import { publishedSignature } from '../store/publish.js';
import type { KnownDevice } from '../store/state-log.js';
import { digestStagesBefore } from './build-summary.js';
import type { CodeDigests } from './code-digest.js';
import { identifyHost } from './host.js';
import type { ActionKey, PinnedPort } from './manifest.js';
import { asLocked, keyOf, makeManifest, withDevice } from './manifest.js';
import { resolveTool } from './tools.js';

/** One input with its content, and how to see whether it has changed since. */
export interface PinnedInput {
  readonly port: string;
  readonly entry: string | undefined;
  readonly ref: InputRef;
  /** Absolute. */
  readonly path: string;
  readonly artifact: Artifact;
  readonly signature: string;
  readonly proof: 'settled' | 'racy';
  /** Of a folder among the sources: what its digest is of. */
  readonly tree?: readonly TreeEntry[];
}

export interface PinnedStage {
  readonly key: ActionKey;
  readonly manifest: JsonObject;
  readonly inputs: readonly PinnedInput[];
}

export interface Pinner {
  /**
   * The action where stamps prove every input; undefined where something must be read or computed. `seen` holds what was looked at in the same moment.
   * @throws EngineError.
   */
  find(
    stage: PlannedStage,
    resultOf: (stage: StageId) => KnownResult | undefined,
    seen: Map<string, PinnedSource | undefined>,
  ): PinnedStage | undefined;
  /** The action. @throws EngineError. */
  pin(stage: PlannedStage, resultOf: (stage: StageId) => KnownResult | undefined): Promise<PinnedStage>;
  /** Looks at the stages' sources, reading small files of which stamps prove nothing: `seen` then holds what they are at this moment, for `find`. */
  seeSmall(stages: readonly PlannedStage[], seen: Map<string, PinnedSource | undefined>): Promise<void>;
  /** What a folder among the sources holds now; undefined where it is none, or cannot be read. */
  treeOf(path: string): Promise<readonly TreeEntry[] | undefined>;
  /** The first input that is not what was pinned. */
  findChanged(pinned: PinnedStage): Promise<PinnedInput | undefined>;
}

export interface PinnerNeeds {
  readonly plan: Plan;
  readonly digests: InputDigests;
  readonly code: CodeDigests;
  readonly platformClass: PlatformClass;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly devices: ReadonlyMap<Digest, KnownDevice>;
}

/** How the pieces of an action are got. */
interface Pieces {
  readonly source: (path: string) => PinnedSource | undefined;
  readonly code: (modulePath: string) => Digest | undefined;
  readonly platformClass: () => string | undefined;
}

export function createPinner({ plan, digests, code, platformClass, environment, devices }: PinnerNeeds): Pinner {
  const toolPaths = new Map<string, string>();
  const toolPath = (tool: string): string => {
    const path = toolPaths.get(tool) ?? resolveTool(tool, plan.projectFolder, environment.PATH ?? environment.Path);
    toolPaths.set(tool, path);
    return path;
  };

  const assemble = (
    stage: PlannedStage,
    pieces: Pieces,
    resultOf: (stage: StageId) => KnownResult | undefined,
  ): PinnedStage | undefined => {
    const inputs: PinnedInput[] = [];
    const ports: Record<string, PinnedPort> = {};
    for (const [port, binding] of Object.entries(stage.inputs)) {
      const named: readonly (readonly [string | undefined, InputRef])[] =
        binding.kind === 'record' ? Object.entries(binding.entries) : [[undefined, binding]];
      const entries: Record<string, Artifact> = {};
      for (const [entry, ref] of named) {
        const pinned = pinRef(plan, ref, pieces, resultOf);
        if (pinned === undefined) return undefined;
        inputs.push({ port, entry, ref, ...pinned });
        if (entry === undefined) ports[port] = pinned.artifact;
        else entries[entry] = pinned.artifact;
      }
      if (binding.kind === 'record') ports[port] = { entries };
    }
    const { plugin, modulePath } = stage.plugin;
    const codeDigest = pieces.code(modulePath);
    const modelClass = plugin.runsModels === 'always' ? pieces.platformClass() : undefined;
    if (codeDigest === undefined || (plugin.runsModels === 'always' && modelClass === undefined)) return undefined;
    const tools: Record<string, Digest> = {};
    for (const tool of toolsOf(stage)) {
      const source = pieces.source(toolPath(tool));
      if (source === undefined) return undefined;
      tools[tool] = source.artifact.digest;
    }
    const manifest = makeManifest({
      plugin: plugin.name,
      version: plugin.version,
      code: codeDigest,
      params: stage.params,
      inputs: ports,
      tools,
      env: Object.fromEntries(stage.env.map(name => [name, environment[name]])),
      secrets: Object.fromEntries(stage.secrets.map(name => [name, environment[name] === undefined ? 'not set' : 'set'])),
      platformClass: modelClass,
      host: stage.determinism === 'measured' ? identifyHost() : undefined,
      build: plugin.needs === 'build-summary' ? digestStagesBefore(plan, stage, resultOf) : undefined,
      device: findDevice(stage, devices)?.identity,
    });
    return pinnedStage(manifest, inputs);
  };

  return {
    find(stage, resultOf, seen) {
      const source = (path: string): PinnedSource | undefined => {
        if (!seen.has(path)) seen.set(path, digests.find(path));
        return seen.get(path);
      };
      return assemble(stage, { source, code: code.find, platformClass: platformClass.find }, resultOf);
    },

    async pin(stage, resultOf) {
      const sources = new Map<string, PinnedSource>();
      for (const path of [...sourcePathsOf(stage), ...toolsOf(stage).map(toolPath)]) {
        if (!sources.has(path)) sources.set(path, digests.find(path) ?? (await digests.digest(path)));
      }
      const { plugin, modulePath } = stage.plugin;
      const codeDigest = code.find(modulePath) ?? (await code.compute(modulePath));
      const modelClass = plugin.runsModels === 'always' ? await platformClass.get() : undefined;
      const pinned = assemble(
        stage,
        { source: path => sources.get(path), code: () => codeDigest, platformClass: () => modelClass },
        resultOf,
      );
      return getDefined(pinned, `the action of ${stage.id}`);
    },

    async seeSmall(stages, seen) {
      for (const path of new Set(stages.flatMap(sourcePathsOf))) {
        try {
          const found = digests.find(path) ?? (isSmallFile(resolve(plan.projectFolder, path)) ? await digests.digest(path) : undefined);
          seen.set(path, found);
        } catch (error) {
          // What is wrong with it is said when it is built.
          if (!(error instanceof EngineError)) throw error;
        }
      }
    },

    async treeOf(path) {
      try {
        return (digests.find(path) ?? (await digests.digest(path))).tree;
      } catch (error) {
        if (error instanceof EngineError) return undefined;
        throw error;
      }
    },

    async findChanged({ inputs }) {
      for (const input of inputs) if (await hasChanged(input, digests)) return input;
      return undefined;
    },
  };
}

/** Its key is computed when it is asked for: where a quick key says enough, it is not. */
function pinnedStage(manifest: JsonObject, inputs: readonly PinnedInput[]): PinnedStage {
  let key: ActionKey | undefined;
  return {
    manifest,
    inputs,
    get key() {
      key ??= keyOf(manifest);
      return key;
    },
  };
}

/** The same action on the device as it says it is now. */
export function pinDevice({ manifest, inputs }: PinnedStage, identity: JsonObject): PinnedStage {
  return pinnedStage(withDevice(manifest, identity), inputs);
}

/**
 * The actions under which a stage may hold what is locked: its own; the same on the classes for which it is locked; and one of which nobody here has seen that
 * it gives this, so that no build but a frozen one takes it for known.
 */
export function heldActions(pinned: PinnedStage, hold: StageHold): readonly PinnedStage[] {
  const { manifest, inputs } = pinned;
  const classes = hold.kind === 'elsewhere' && manifest.platformClass !== undefined ? [...hold.classes.keys()] : [];
  return [pinned, ...classes.map(platformClass => pinnedStage({ ...manifest, platformClass }, inputs)), pinLocked(pinned)];
}

/** The last of these. */
export function pinLocked({ manifest, inputs }: PinnedStage): PinnedStage {
  return pinnedStage(asLocked(manifest), inputs);
}

function pinRef(
  plan: Plan,
  ref: InputRef,
  pieces: Pieces,
  resultOf: (stage: StageId) => KnownResult | undefined,
): Omit<PinnedInput, 'port' | 'entry' | 'ref'> | undefined {
  if (ref.kind === 'source') {
    const source = pieces.source(ref.path);
    return source === undefined ? undefined : { path: isAbsolute(ref.path) ? ref.path : `${plan.projectFolder}/${ref.path}`, ...source };
  }
  const producer = getDefined(plan.stages.get(ref.stage), ref.stage);
  const output = getDefined(resultOf(ref.stage), `result of ${ref.stage}`).outputs[ref.port];
  if (output === undefined) {
    throw new EngineError('input-missing', `${ref.stage} did not write its optional output "${ref.port}"`, {
      help: 'connect another output, or none',
    });
  }
  const { signature, ...artifact } = output;
  return { path: `${plan.projectFolder}/${artifactPath(plan, producer, ref.port)}`, artifact, signature, proof: 'settled' };
}

async function hasChanged(input: PinnedInput, digests: InputDigests): Promise<boolean> {
  if (input.ref.kind === 'artifact') return publishedSignature(input.path, input.artifact.kind) !== input.signature;
  try {
    const now = digests.find(input.ref.path) ?? (await digests.digest(input.ref.path));
    return now.signature !== input.signature || now.artifact.digest !== input.artifact.digest;
  } catch (error) {
    if (error instanceof EngineError) return true;
    throw error;
  }
}

const SMALL_BYTES = 8 << 20;

function isSmallFile(path: string): boolean {
  const look = lookAt(path);
  return look?.kind === 'file' && look.sizeBytes <= SMALL_BYTES;
}

function sourcePathsOf(stage: PlannedStage): readonly string[] {
  return Object.values(stage.inputs)
    .flatMap(refsOf)
    .flatMap(ref => (ref.kind === 'source' ? [ref.path] : []));
}

/** What is known of the device that the stage measures on; undefined where it has none, or where it was never started. */
export function findDevice(stage: PlannedStage, devices: ReadonlyMap<Digest, KnownDevice>): KnownDevice | undefined {
  const description = describeDevice(stage);
  return description === undefined ? undefined : devices.get(description);
}

/** The digest of the plugin's description of the device; undefined where the stage has none. */
export function describeDevice(stage: PlannedStage): Digest | undefined {
  // As for `toolsOf`.
  const plugin = stage.plugin.plugin as unknown as StagePlugin<JsonObject>;
  const description = plugin.device?.(stage.params);
  return description === undefined ? undefined : digestJson(description);
}

/** Paths of the programs that the stage starts. @throws EngineError `tool-missing`. */
export function toolFilesOf(
  stage: PlannedStage,
  projectFolder: string,
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  return toolsOf(stage).map(tool => resolveTool(tool, projectFolder, environment.PATH ?? environment.Path));
}

/** The programs that the stage starts, as it names them. */
export function toolsOf(stage: PlannedStage): readonly string[] {
  // A plugin takes params of its own type: these were checked against its schema when the plan was made.
  const plugin = stage.plugin.plugin as unknown as StagePlugin<JsonObject>;
  return plugin.tools?.(stage.params) ?? [];
}
