/** How is a detector opened from files? Sessions of its parts, joined by the host of its family, closed together. */
import { getDefined } from '../base/invariant.js';
import { type OpenModel, openSession, type Session, type SessionOptions } from '../runtime/session/session.js';
import type { Detector, FamilyDetector, FamilyHost } from './detector/detector.js';
import type { DetectorPart } from './detector/detector-part.js';
import { type Measure, unmeasured } from './detector/measure.js';
import { type RunPart, runnerOfParts, runnerOfWhole } from './detector/part-runner.js';
import { runPart } from './detector/run-part.js';
import { type DetectorSetup, listParts } from './detector-definition.js';
import { DetectionError } from './error/detection-error.js';
import { openMaskRcnn } from './families/maskrcnn/open-maskrcnn.js';
import { openMaskScoring } from './families/maskscoring/open-maskscoring.js';
import { openSingle } from './families/single/open-single.js';
import { openYolact } from './families/yolact/open-yolact.js';

/** A model's path (so that external data is found), or its bytes. */
export type ModelSource = string | Uint8Array;

/** One model per part of the recipe, or one that holds all parts (`export`'s). */
export type DetectorModels =
  | { readonly kind: 'parts'; readonly parts: Readonly<Record<string, ModelSource>> }
  | { readonly kind: 'whole'; readonly model: ModelSource };

export interface DetectorFiles {
  readonly setup: DetectorSetup;
  readonly models: DetectorModels;
}

export interface OpenOptions extends SessionOptions {
  /** Opens the parts, on whatever device; here where absent. */
  readonly openModel?: OpenModel;
  readonly measure?: Measure;
}

/** @throws DetectionError `part-missing`, `part-values`; RuntimeError `model-load`. */
export async function openDetector({ setup, models }: DetectorFiles, options: OpenOptions): Promise<Detector> {
  const { openModel = openSession, measure = unmeasured, ...session } = options;
  const parts = listParts(setup.recipe);
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
    const family = await openFamily(setup, { run, measure });
    const partOf = (name: string): DetectorPart => getDefined(findPart(parts, name), name);
    return { ...family, parts, runPart: (name, inputs) => runPart(run, partOf(name), inputs), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Each family's host. */
async function openFamily(setup: DetectorSetup, host: FamilyHost): Promise<FamilyDetector> {
  switch (setup.architecture) {
    case 'maskrcnn':
      return openMaskRcnn(setup, host);
    case 'maskscoring':
      return openMaskScoring(setup, host);
    case 'single':
      return openSingle(setup, host);
    case 'yolact':
      return openYolact(setup, host);
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

/** @throws DetectionError `part-missing` unless the models are those of the parts, by name. */
export function checkPartNames(models: Readonly<Record<string, unknown>>, parts: readonly DetectorPart[]): void {
  const missing = parts.filter(({ name }) => !Object.hasOwn(models, name)).map(({ name }) => name);
  const extra = Object.keys(models).filter(name => findPart(parts, name) === undefined);
  if (missing.length === 0 && extra.length === 0) return;
  const problems = [
    ...(missing.length > 0 ? [`no model is given for ${missing.join(', ')}`] : []),
    ...(extra.length > 0 ? [`it has no part ${extra.join(', ')}`] : []),
  ];
  throw new DetectionError('part-missing', `the models are not those of the recipe: ${problems.join('; ')}`, {
    help: `connect one model per part: {${parts.map(({ name }) => `${name}: …`).join(', ')}}`,
  });
}

function findPart(parts: readonly DetectorPart[], name: string): DetectorPart | undefined {
  return parts.find(part => part.name === name);
}
