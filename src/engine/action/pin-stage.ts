/** Pinning of stages: the action for the current files. Stamps are used if they prove the content; otherwise files are read. */
import { resolve } from 'node:path';
import { getDefined } from '../../base/invariant.js';
import { fromProject } from '../model/artifact-path.js';
import { EngineError } from '../model/engine-error.js';
import type { KnownResult } from '../model/known-result.js';
import type { PlannedStage, StageId } from '../model/plan.js';
import { statPath } from '../store/files/stamp.js';
import type { TreeEntry } from '../store/files/tree.js';
import type { InputDigests, PinnedSource } from '../store/input-digests.js';
import type { PlatformClass } from '../store/platform-class-cache.js';
import { type ActionContext, assembleAction } from './assemble-action.js';
import { hasChanged, hasToolChanged } from './changed-inputs.js';
import type { CodeDigests } from './code/code-digest.js';
import { codeOf, type PinnedCode } from './code/pinned-code.js';
import { sourcePathsOf, toolsOf } from './declared.js';
import { nameOf, type ObservedInputs, type PinnedStage } from './pinned-stage.js';
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

type ResultOf = (stage: StageId) => KnownResult | undefined;

export interface Pinner {
  /**
   * Returns the action if stamps prove every input; undefined if something must be read or computed. `observations` holds the items that were already observed.
   * @throws EngineError.
   */
  find(stage: PlannedStage, resultOf: ResultOf, observations: Observations): PinnedStage | undefined;
  /** Returns the action. `observations` holds the items that were already observed; without it, everything is observed now. @throws EngineError. */
  pin(stage: PlannedStage, resultOf: ResultOf, observations?: Observations): Promise<PinnedStage>;
  /** Observes the stages' sources for `find`. Small files without conclusive stamps are read. */
  readSmallSources(stages: readonly PlannedStage[], observations: Observations): Promise<void>;
  /** Returns the current entries of a source folder; undefined if it is not a folder or cannot be read. */
  treeOf(path: string): Promise<readonly TreeEntry[] | undefined>;
  /** Returns the name of the first input, program or module that has changed since it was pinned. */
  findChanged(pinned: ObservedInputs): Promise<string | undefined>;
}

export interface PinnerNeeds extends ActionContext {
  readonly digests: InputDigests;
  readonly code: CodeDigests;
  readonly platformClass: PlatformClass;
}

export function createPinner(needs: PinnerNeeds): Pinner {
  return {
    find: (stage, resultOf, observations) => findAction(needs, stage, resultOf, observations),
    pin: (stage, resultOf, observations = newObservations()) => pinAction(needs, stage, resultOf, observations),
    readSmallSources: (stages, { sources }) => readSmallSources(needs, stages, sources),
    treeOf: path => treeOf(needs.digests, path),
    findChanged: observed => findChanged(needs, observed),
  };
}

function findAction(needs: PinnerNeeds, stage: PlannedStage, result: ResultOf, observations: Observations): PinnedStage | undefined {
  const { digests, code, platformClass } = needs;
  return assembleAction(needs, stage, {
    source: path => once(observations.sources, path, digests.find),
    tool: name => once(observations.tools, name, tool => findTool(needs, tool)),
    code: root => once(observations.code, stage.plugin.name, () => code.find(root)),
    platformClass: platformClass.find,
    result,
  });
}

async function pinAction(needs: PinnerNeeds, stage: PlannedStage, result: ResultOf, observations: Observations): Promise<PinnedStage> {
  const { digests, code, platformClass } = needs;
  const { plugin } = stage.plugin;
  for (const path of new Set(sourcePathsOf(stage)))
    observations.sources.set(path, observations.sources.get(path) ?? digests.find(path) ?? (await digests.digest(path)));
  for (const name of toolsOf(stage)) observations.tools.set(name, observations.tools.get(name) ?? (await readTool(needs, name)));
  const pinnedCode = observations.code.get(plugin.name) ?? (await code.read(codeOf(stage.plugin)));
  observations.code.set(plugin.name, pinnedCode);
  const modelClass = plugin.runsModels === 'always' ? await platformClass.get() : undefined;
  const pinned = assembleAction(needs, stage, {
    source: path => observations.sources.get(path),
    tool: name => observations.tools.get(name),
    code: () => pinnedCode,
    platformClass: () => modelClass,
    result,
  });
  return getDefined(pinned, `the action of ${stage.id}`);
}

function pathOfTool({ plan, environment }: PinnerNeeds, name: string): string {
  return resolveTool(name, plan.projectFolder, environment.PATH ?? environment.Path);
}

function findTool(needs: PinnerNeeds, name: string): PinnedTool | undefined {
  const path = pathOfTool(needs, name);
  const source = needs.digests.find(path);
  return source === undefined ? undefined : { name, path, source };
}

async function readTool(needs: PinnerNeeds, name: string): Promise<PinnedTool> {
  const path = pathOfTool(needs, name);
  return { name, path, source: needs.digests.find(path) ?? (await needs.digests.digest(path)) };
}

async function readSmallSources(
  { plan, digests }: PinnerNeeds,
  stages: readonly PlannedStage[],
  sources: Observations['sources'],
): Promise<void> {
  for (const path of new Set(stages.flatMap(sourcePathsOf))) {
    try {
      const found = digests.find(path) ?? (isSmallFile(resolve(plan.projectFolder, path)) ? await digests.digest(path) : undefined);
      sources.set(path, found);
    } catch (error) {
      // A problem with the source is reported when its stage is built.
      if (!(error instanceof EngineError)) throw error;
    }
  }
}

async function treeOf(digests: InputDigests, path: string): Promise<readonly TreeEntry[] | undefined> {
  try {
    return (digests.find(path) ?? (await digests.digest(path))).tree;
  } catch (error) {
    if (error instanceof EngineError) return undefined;
    throw error;
  }
}

async function findChanged(needs: PinnerNeeds, { inputs, tools, code }: ObservedInputs): Promise<string | undefined> {
  for (const input of inputs) if (await hasChanged(input, needs.digests)) return nameOf(input);
  for (const tool of tools) if (await hasToolChanged(tool, name => readTool(needs, name))) return `program ${tool.name}`;
  const path = await needs.code.findChanged(code);
  return path === undefined ? undefined : `code ${fromProject(needs.plan, path)}`;
}

function once<T>(known: Map<string, T>, name: string, find: (name: string) => T): T | undefined {
  if (!known.has(name)) known.set(name, find(name));
  return known.get(name);
}

const SMALL_BYTES = 8 << 20;

function isSmallFile(path: string): boolean {
  const find = statPath(path);
  return find?.kind === 'file' && find.sizeBytes <= SMALL_BYTES;
}
