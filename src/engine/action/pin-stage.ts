/** Pinning of stages: the action for the current files. Stamps are used if they prove the content; otherwise files are read. */
import { isAbsolute, resolve } from 'node:path';
import type { Digest } from '../../base/digest.js';
import { getDefined } from '../../base/invariant.js';
import type { Artifact } from '../model/artifact.js';
import { artifactPath, fromProject } from '../model/artifact-path.js';
import { EngineError } from '../model/engine-error.js';
import type { KnownResult } from '../model/known-result.js';
import type { InputRef, Plan, PlannedStage, StageId } from '../model/plan.js';
import { statPath } from '../store/files/stamp.js';
import type { TreeEntry } from '../store/files/tree.js';
import type { InputDigests, PinnedSource } from '../store/input-digests.js';
import type { PlatformClass } from '../store/platform-class-cache.js';
import type { KnownDevice } from '../store/state.js';
import { digestStagesBefore } from './build-summary.js';
import { hasChanged, hasToolChanged } from './changed-inputs.js';
import type { CodeDigests } from './code/code-digest.js';
import { type CodeRoot, codeOf, type PinnedCode } from './code/pinned-code.js';
import { findDevice, sourcePathsOf, toolsOf } from './declared.js';
import { identifyHost } from './host.js';
import type { PinnedPort } from './manifest.js';
import { makeManifest } from './manifest.js';
import { nameOf, type ObservedInputs, type PinnedInput, type PinnedStage, pinnedStage } from './pinned-stage.js';
import { type PinnedTool, resolveTool } from './tools.js';

/** Observed sources, programs and code. Each item is observed once, for any number of stages. */
export interface Observations {
  /** By path as written in the pipeline file; undefined if files must be read. */
  readonly sources: Map<string, PinnedSource | undefined>;
  /** By the name that stages use. */
  readonly tools: Map<string, PinnedTool | undefined>;
  /** By the plugin's name. */
  readonly code: Map<string, PinnedCode | undefined>;
}

export function newObservations(): Observations {
  return { sources: new Map(), tools: new Map(), code: new Map() };
}

export interface Pinner {
  /**
   * Returns the action if stamps prove every input; undefined if something must be read or computed. `observations` holds the items that were already observed.
   * @throws EngineError.
   */
  find(stage: PlannedStage, resultOf: (stage: StageId) => KnownResult | undefined, observations: Observations): PinnedStage | undefined;
  /** Returns the action. `observations` holds the items that were already observed; without it, everything is observed now. @throws EngineError. */
  pin(stage: PlannedStage, resultOf: (stage: StageId) => KnownResult | undefined, observations?: Observations): Promise<PinnedStage>;
  /** Observes the stages' sources for `find`. Small files without conclusive stamps are read. */
  readSmallSources(stages: readonly PlannedStage[], observations: Observations): Promise<void>;
  /** Returns the current entries of a source folder; undefined if it is not a folder or cannot be read. */
  treeOf(path: string): Promise<readonly TreeEntry[] | undefined>;
  /** Returns the name of the first input, program or module that has changed since it was pinned. */
  findChanged(pinned: ObservedInputs): Promise<string | undefined>;
}

export interface PinnerNeeds {
  readonly plan: Plan;
  readonly digests: InputDigests;
  readonly code: CodeDigests;
  readonly platformClass: PlatformClass;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly devices: ReadonlyMap<Digest, KnownDevice>;
}

/** The functions that supply the parts of an action. */
interface InputLookup {
  readonly source: (path: string) => PinnedSource | undefined;
  readonly tool: (name: string) => PinnedTool | undefined;
  readonly code: (root: CodeRoot) => PinnedCode | undefined;
  readonly platformClass: () => string | undefined;
}

export function createPinner({ plan, digests, code, platformClass, environment, devices }: PinnerNeeds): Pinner {
  const toolPath = (name: string): string => resolveTool(name, plan.projectFolder, environment.PATH ?? environment.Path);
  const findTool = (name: string): PinnedTool | undefined => {
    const path = toolPath(name);
    const source = digests.find(path);
    return source === undefined ? undefined : { name, path, source };
  };
  const readTool = async (name: string): Promise<PinnedTool> => {
    const path = toolPath(name);
    return { name, path, source: digests.find(path) ?? (await digests.digest(path)) };
  };

  const assemble = (
    stage: PlannedStage,
    lookup: InputLookup,
    resultOf: (stage: StageId) => KnownResult | undefined,
  ): PinnedStage | undefined => {
    const inputs: PinnedInput[] = [];
    const ports: Record<string, PinnedPort> = {};
    for (const [port, binding] of Object.entries(stage.inputs)) {
      const named: readonly (readonly [string | undefined, InputRef])[] =
        binding.kind === 'record' ? Object.entries(binding.entries) : [[undefined, binding]];
      const entries: Record<string, Artifact> = {};
      for (const [entry, ref] of named) {
        const pinned = pinRef(plan, ref, lookup, resultOf);
        if (pinned === undefined) return undefined;
        inputs.push({ port, entry, ref, ...pinned });
        if (entry === undefined) ports[port] = pinned.artifact;
        else entries[entry] = pinned.artifact;
      }
      if (binding.kind === 'record') ports[port] = { entries };
    }
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
      inputs: ports,
      tools: Object.fromEntries(tools.map(({ name, source }) => [name, source.artifact.digest])),
      env: Object.fromEntries(stage.env.map(name => [name, environment[name]])),
      secrets: Object.fromEntries(stage.secrets.map(name => [name, environment[name] === undefined ? 'not set' : 'set'])),
      platformClass: modelClass,
      host: stage.determinism === 'measured' ? identifyHost() : undefined,
      build: plugin.needs === 'build-summary' ? digestStagesBefore(plan, stage, resultOf) : undefined,
      device: findDevice(stage, devices)?.identity,
    });
    return pinnedStage(manifest, { inputs, tools, code });
  };

  return {
    find(stage, resultOf, observations) {
      const lookup: InputLookup = {
        source: path => once(observations.sources, path, digests.find),
        tool: name => once(observations.tools, name, findTool),
        code: root => once(observations.code, stage.plugin.name, () => code.find(root)),
        platformClass: platformClass.find,
      };
      return assemble(stage, lookup, resultOf);
    },

    async pin(stage, resultOf, observations = newObservations()) {
      const { plugin } = stage.plugin;
      for (const path of new Set(sourcePathsOf(stage)))
        observations.sources.set(path, observations.sources.get(path) ?? digests.find(path) ?? (await digests.digest(path)));
      for (const name of toolsOf(stage)) observations.tools.set(name, observations.tools.get(name) ?? (await readTool(name)));
      const pinnedCode = observations.code.get(plugin.name) ?? (await code.read(codeOf(stage.plugin)));
      observations.code.set(plugin.name, pinnedCode);
      const modelClass = plugin.runsModels === 'always' ? await platformClass.get() : undefined;
      const lookup: InputLookup = {
        source: path => observations.sources.get(path),
        tool: name => observations.tools.get(name),
        code: () => pinnedCode,
        platformClass: () => modelClass,
      };
      const pinned = assemble(stage, lookup, resultOf);
      return getDefined(pinned, `the action of ${stage.id}`);
    },

    async readSmallSources(stages, { sources }) {
      for (const path of new Set(stages.flatMap(sourcePathsOf))) {
        try {
          const found = digests.find(path) ?? (isSmallFile(resolve(plan.projectFolder, path)) ? await digests.digest(path) : undefined);
          sources.set(path, found);
        } catch (error) {
          // A problem with the source is reported when its stage is built.
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

    async findChanged({ inputs, tools, code: pinnedCode }) {
      for (const input of inputs) if (await hasChanged(input, digests)) return nameOf(input);
      for (const tool of tools) if (await hasToolChanged(tool, readTool)) return `program ${tool.name}`;
      const path = await code.findChanged(pinnedCode);
      return path === undefined ? undefined : `code ${fromProject(plan, path)}`;
    },
  };
}

function once<T>(known: Map<string, T>, name: string, find: (name: string) => T): T | undefined {
  if (!known.has(name)) known.set(name, find(name));
  return known.get(name);
}

function pinRef(
  plan: Plan,
  ref: InputRef,
  lookup: InputLookup,
  resultOf: (stage: StageId) => KnownResult | undefined,
): Omit<PinnedInput, 'port' | 'entry' | 'ref'> | undefined {
  if (ref.kind === 'source') {
    const source = lookup.source(ref.path);
    return source === undefined ? undefined : { path: isAbsolute(ref.path) ? ref.path : `${plan.projectFolder}/${ref.path}`, ...source };
  }
  const producer = getDefined(plan.stages.get(ref.stage), ref.stage);
  const output = getDefined(resultOf(ref.stage), `result of ${ref.stage}`).outputs[ref.port];
  if (output === undefined) {
    throw new EngineError('input-missing', `${ref.stage} did not write its optional output "${ref.port}"`, {
      help: 'connect another output, or remove the input',
    });
  }
  const { signature, ...artifact } = output;
  return { path: `${plan.projectFolder}/${artifactPath(plan, producer, ref.port)}`, artifact, signature, links: '', proof: 'settled' };
}

const SMALL_BYTES = 8 << 20;

function isSmallFile(path: string): boolean {
  const find = statPath(path);
  return find?.kind === 'file' && find.sizeBytes <= SMALL_BYTES;
}
