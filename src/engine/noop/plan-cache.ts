/** The plan cache: plans as JSON, used instead of parsing the pipeline file while everything that determines the plan is unchanged. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Digest, digestBytes, digestJson } from '../../base/digest.js';
import { findPathKind, type PathKind } from '../../base/files/path-kind.js';
import { realPathOf } from '../../base/files/real-path.js';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.js';
import { pipelineNameOf } from '../config/pipeline-name.js';
import { findProjectFolder } from '../config/project-folder.js';
import { readConfigText } from '../config/read-text.js';
import type { Diagnostic } from '../model/diagnostic.js';
import type { Plan, PlannedStage, StageId } from '../model/plan.js';
import { namesakePaths } from '../planning/check-pipeline-name.js';
import type { LoadedPipeline, NamedFiles, PipelineRequest, PlanObserver } from '../planning/load-pipeline.js';
import { readRegularText } from '../store/files/read-regular.js';
import { writeWhole } from '../store/files/write-file.js';

/** What a kept plan was made from. */
export interface PlanKey {
  readonly path: string;
  readonly digest: Digest;
  readonly texts: ReadonlyMap<string, string>;
}

interface StoredPlan {
  readonly key: string;
  readonly pipeline: string;
  readonly stages: readonly (Omit<PlannedStage, 'plugin'> & { readonly plugin: string })[];
  readonly targets: readonly (readonly [string, readonly StageId[]])[];
  readonly params: JsonObject;
  readonly pools: Readonly<Record<string, number>>;
  readonly remoteCache?: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly kinds: readonly (readonly [string, PathKind])[];
  readonly reals: readonly (readonly [string, string])[];
  readonly named: readonly NamedFiles[];
}

/**
 * The key of a request; undefined if a file cannot be read (parsing reports that).
 * @param code the digest of this installation's code: the planner, and the schemas and ports of plugins.
 */
export function findPlanKey(request: PipelineRequest, code: string, observer: Pick<PlanObserver, 'file' | 'names'>): PlanKey | undefined {
  const path = resolve(request.cwd, request.file);
  const projectFolder = findProjectFolder(path);
  try {
    for (const file of [path, ...request.paramsFiles.map(name => resolve(request.cwd, name))]) observer.file(file);
    const namesakes = namesakePaths(path);
    for (const file of namesakes) observer.file(file);
    const texts = new Map([request.file, ...request.paramsFiles].map(file => [file, readConfigText(resolve(request.cwd, file))]));
    const parts: Json = {
      code,
      path,
      projectFolder,
      siblings: observer.names(join(projectFolder, 'pipelines')),
      namesakes: namesakes.filter(file => existsSync(file)),
      texts: [...texts.entries()],
      paramsFiles: request.paramsFiles,
      assignments: request.assignments,
    };
    return {
      path: join(projectFolder, 'cache', 'plans', `${pipelineNameOf(path)}.json`),
      digest: digestJson(parts),
      texts,
    };
  } catch {
    return undefined;
  }
}

/** The kept plan of exactly this key. Any other file, damaged or not, counts as missing. */
export function findStoredPlan(key: PlanKey, request: PipelineRequest): LoadedPipeline | undefined {
  const kept = readKept(key);
  if (kept === undefined) return undefined;
  if (!hasEqualFiles(kept, request)) return undefined;
  const stages = new Map<StageId, PlannedStage>();
  for (const { plugin: name, ...stage } of kept.stages) {
    const plugin = request.builtIn.find(name);
    if (plugin === undefined) return undefined;
    stages.set(stage.id, { ...stage, timeoutMs: stage.timeoutMs, plugin });
  }
  const plan: Plan = {
    pipeline: kept.pipeline,
    projectFolder: findProjectFolder(resolve(request.cwd, request.file)),
    stages,
    targets: new Map(kept.targets),
    params: kept.params,
    pools: kept.pools,
    remoteCache: kept.remoteCache,
  };
  return {
    plan,
    diagnostics: kept.diagnostics,
    sources: key.texts,
    probes: { kinds: new Map(kept.kinds), reals: new Map(kept.reals), named: kept.named },
  };
}

/** Whether planning would learn the same about files as when the plan was made. */
function hasEqualFiles({ kinds, reals, named }: StoredPlan, { observer, builtIn }: PipelineRequest): boolean {
  for (const path of [...[...kinds, ...reals].map(([path]) => path), ...named.map(({ path }) => path)]) observer?.file(path);
  return (
    kinds.every(([path, was]) => findPathKind(path) === was) &&
    reals.every(([path, was]) => realPathOf(path) === was) &&
    named.every(({ plugin, path, files }) => isDeepStrictEqual(builtIn.find(plugin)?.plugin.namedFiles?.list(path), files))
  );
}

/** The first line is the digest of the rest, so that an incomplete or edited file is not used as a plan. */
function readKept(key: PlanKey): StoredPlan | undefined {
  let text: string;
  try {
    text = readRegularText(key.path);
  } catch {
    return undefined;
  }
  const end = text.indexOf('\n');
  const body = text.slice(end + 1);
  if (end < 0 || text.slice(0, end) !== digestBytes(body)) return undefined;
  const kept = parseJson(body);
  // The key is the digest of everything that the plan was made from, including this installation's code. So `storePlan` of this version
  // wrote it.
  return isJsonObject(kept) && kept.key === key.digest ? (kept as unknown as StoredPlan) : undefined;
}

/**
 * Keeps a plan without third-party plugins. A process may hold older modules behind their declarations than those on the disk.
 * A failed write only costs the next build some time.
 */
export async function storePlan(key: PlanKey, { plan, diagnostics, sources, probes }: LoadedPipeline): Promise<void> {
  if (plan === undefined || [...plan.stages.values()].some(stage => stage.plugin.origin !== 'built-in')) return;
  // A file was saved between the making of the key and planning.
  if ([...key.texts].some(([name, text]) => sources.get(name) !== text)) return;
  const kept: StoredPlan = {
    key: key.digest,
    pipeline: plan.pipeline,
    stages: [...plan.stages.values()].map(stage => ({ ...stage, plugin: stage.plugin.name })),
    targets: [...plan.targets],
    params: plan.params,
    pools: plan.pools,
    remoteCache: plan.remoteCache,
    diagnostics,
    kinds: [...probes.kinds],
    reals: [...probes.reals],
    named: probes.named,
  };
  const body = JSON.stringify(kept);
  await writeWhole(key.path, `${digestBytes(body)}\n${body}`, 'no-flush').catch(() => undefined);
}

/** The code table of the installation lists every module, so its digest stands for all code. */
export function digestCode(installRoot: string): string {
  try {
    return digestBytes(readFileSync(join(installRoot, 'code-digests.json')));
  } catch {
    return `unknown: ${dirname(installRoot)} ${Date.now()}`;
  }
}
