/** Opens a detector from files: one session per part, and the host of its family. */
import { getDefined } from '../base/invariant.js';
import { type OpenModel, openSession, type Session, type SessionOptions } from '../runtime/session/session.js';
import type { Detector } from './detector/detector.js';
import type { DetectorDefinition } from './detector/detector-family.js';
import type { DetectorPart } from './detector/detector-part.js';
import { type Measure, unmeasured } from './detector/measure.js';
import { type RunPart, runnerOfParts, runnerOfWhole } from './detector/part-runner.js';
import { runPart } from './detector/run-part.js';
import { DetectionError } from './error/detection-error.js';

/** A model's path, which also locates its external data, or its bytes. */
export type ModelSource = string | Uint8Array;

/** One model per part, or one model that holds all parts, as `export` writes it. */
export type DetectorModels =
  | { readonly kind: 'parts'; readonly parts: Readonly<Record<string, ModelSource>> }
  | { readonly kind: 'whole'; readonly model: ModelSource };

export interface DetectorFiles {
  readonly definition: DetectorDefinition;
  readonly models: DetectorModels;
}

export interface OpenOptions extends SessionOptions {
  /** Opens the models on a device; on this machine where absent. */
  readonly openModel?: OpenModel;
  readonly measure?: Measure;
}

/** @throws DetectionError `part-missing`, `part-values`; RuntimeError `model-load`. */
export async function openDetector({ definition, models }: DetectorFiles, options: OpenOptions): Promise<Detector> {
  const { openModel = openSession, measure = unmeasured, ...session } = options;
  const { parts } = definition;
  const opened: Session[] = [];
  const close = async (): Promise<void> => {
    for (const one of opened) await one.close();
  };
  try {
    const open = async (model: ModelSource): Promise<Session> => {
      const one = await openModel(model, session);
      opened.push(one);
      return one;
    };
    const run = await openParts(models, parts, open);
    const host = await definition.openHost({ run, measure });
    const partOf = (name: string): DetectorPart => getDefined(findPart(parts, name), name);
    return { ...host, parts, runPart: (name, inputs) => runPart(run, partOf(name), inputs), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openParts(
  models: DetectorModels,
  parts: readonly DetectorPart[],
  open: (model: ModelSource) => Promise<Session>,
): Promise<RunPart> {
  if (models.kind === 'whole') return runnerOfWhole(await open(models.model), parts);
  checkPartNames(models.parts, parts);
  const sessions: Record<string, Session> = {};
  for (const { name } of parts) sessions[name] = await open(getDefined(models.parts[name], name));
  return runnerOfParts(sessions, parts);
}

/** @throws DetectionError `part-missing` unless there is exactly one model per part. */
export function checkPartNames(models: Readonly<Record<string, unknown>>, parts: readonly DetectorPart[]): void {
  const missing = parts.filter(({ name }) => !Object.hasOwn(models, name)).map(({ name }) => name);
  const extra = Object.keys(models).filter(name => findPart(parts, name) === undefined);
  if (missing.length === 0 && extra.length === 0) return;
  const problems = [
    ...(missing.length > 0 ? [`no model is given for ${missing.join(', ')}`] : []),
    ...(extra.length > 0 ? [`the recipe has no part ${extra.join(', ')}`] : []),
  ];
  throw new DetectionError('part-missing', `the models do not match the host recipe: ${problems.join('; ')}`, {
    help: `connect one model per part: {${parts.map(({ name }) => `${name}: …`).join(', ')}}`,
  });
}

function findPart(parts: readonly DetectorPart[], name: string): DetectorPart | undefined {
  return parts.find(part => part.name === name);
}
