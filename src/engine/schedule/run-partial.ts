/**
 * Partial results. A stage that describes its build, and was skipped because another one failed, runs with the inputs that have a result.
 * Its outputs are written beside the cache for people to look at. They are no result: nothing is recorded, published or locked, and no stage reads them.
 */

import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { invariant } from '../../base/invariant.js';
import { createCachingPartStore } from '../execute/parts/caching-part-store.js';
import { runOnce } from '../execute/run-once.js';
import { removeRunFolder } from '../execute/starter/remove-run-folder.js';
import { artifactName } from '../model/artifact-path.js';
import { toFailure } from '../model/failure.js';
import type { InputBinding, InputRef, PlannedStage } from '../model/plan.js';
import type { PartialResult, StageEnd } from '../model/stage-end.js';
import { type StageNeeds, warn } from './stage-needs.js';

/** Whether the stage can run with some of its inputs. */
export function hasPartialResults({ plugin }: PlannedStage): boolean {
  return plugin.plugin.needs === 'build-summary';
}

/** Runs a skipped stage with the inputs that exist. @returns undefined if there is none, a required one is missing, or the run fails. */
export async function runPartial(needs: StageNeeds): Promise<PartialResult | undefined> {
  const { session, stage, superseded } = needs;
  await removePartial(needs);
  const { stage: reduced, without } = reduceInputs(stage, needs.endOf);
  if (reduced === undefined) return undefined;
  const signal = AbortSignal.any([session.ports.signal, superseded]);
  try {
    const folder = await writeOutputs({ ...needs, stage: reduced, session: { ...session, ports: { ...session.ports, signal } } });
    return folder === undefined ? undefined : { folder, without };
  } catch (error) {
    if (!signal.aborted) warn(needs, 'stage-warning', `it has no partial result: ${toFailure(error).message}`);
    return undefined;
  }
}

/** Removes what an earlier build wrote. */
export async function removePartial({ session, stage }: Pick<StageNeeds, 'session' | 'stage'>): Promise<void> {
  await rm(session.cache.partial(session.plan.pipeline, stage.id), { recursive: true, force: true });
}

/** Runs the stage and copies its outputs. @returns the folder; undefined if the build was stopped. */
async function writeOutputs({ session, stage, services, parts, endOf }: StageNeeds): Promise<string | undefined> {
  const { cache, plan, ports, pinner } = session;
  const pinned = await pinner.pin(stage, before => endOf(before)?.accepted);
  const run = await runOnce(session, stage, pinned, {
    partStore: createCachingPartStore(parts, {
      plugin: pinned.code.root,
      kept: 'use',
      warn: (code, message) => ports.emit({ kind: 'warning', stage: stage.id, code, message }),
      findChangedCode: () => pinner.findChanged({ inputs: [], tools: [], code: pinned.code }),
      onPart: () => undefined,
    }),
    reaper: services.reaper,
    starters: services.starters,
    guard: services.guard,
    artifacts: 'copies',
    endOf,
    logPath: cache.log(`${plan.pipeline}/.partial`, stage.id),
  });
  try {
    if (ports.signal.aborted) return undefined;
    invariant(run.kind !== 'inputs-left', 'a partial run is here');
    if (run.kind === 'failed') {
      ports.emit({ kind: 'warning', stage: stage.id, code: 'stage-warning', message: `it has no partial result: ${run.failure.message}` });
      return undefined;
    }
    const folder = cache.partial(plan.pipeline, stage.id);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const [port, { path }] of Object.entries(run.outputs))
      await cp(path, join(folder, artifactName(stage, port)), { recursive: true });
    return folder;
  } finally {
    await removeRunFolder(run.folder);
  }
}

interface Reduced {
  /** undefined if a required input is missing, or no input of a stage is left. */
  readonly stage: PlannedStage | undefined;
  /** The stages whose results are missing. */
  readonly without: readonly string[];
}

function reduceInputs(stage: PlannedStage, endOf: StageNeeds['endOf']): Reduced {
  const missing = new Set<string>();
  const exists = (ref: InputRef): boolean => {
    if (ref.kind === 'source' || hasResult(endOf(ref.stage))) return true;
    missing.add(ref.stage);
    return false;
  };
  const inputs: Record<string, InputBinding> = {};
  let isComplete = true;
  for (const [port, binding] of Object.entries(stage.inputs)) {
    const left = keepExisting(binding, stage.inputPorts[port]?.entries === 'any', exists);
    if (left !== undefined) inputs[port] = left;
    else if (stage.inputPorts[port]?.optional !== true) isComplete = false;
  }
  const readsStage = Object.values(inputs).some(binding =>
    (binding.kind === 'record' ? Object.values(binding.entries) : [binding]).some(({ kind }) => kind === 'artifact'),
  );
  return { stage: isComplete && readsStage ? { ...stage, inputs } : undefined, without: [...missing] };
}

/** A record with entries of any names loses the missing ones; anything else is whole or absent. */
function keepExisting(binding: InputBinding, isOpen: boolean, exists: (ref: InputRef) => boolean): InputBinding | undefined {
  if (binding.kind !== 'record') return exists(binding) ? binding : undefined;
  const all = Object.entries(binding.entries);
  const left = all.filter(([, ref]) => exists(ref));
  if (left.length === all.length) return binding;
  return isOpen && left.length > 0 ? { ...binding, entries: Object.fromEntries(left) } : undefined;
}

function hasResult(end: StageEnd | undefined): boolean {
  return end?.accepted !== undefined;
}
