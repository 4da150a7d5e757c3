/** Opens a detector from files: one session per part, and the host of its family. */
import { getDefined } from '../base/invariant.js';
import { type OpenModel, openSession, type Session, type SessionOptions } from '../runtime/session/session.js';
import type { Detector } from './detector/detector.js';
import type { DetectorDefinition } from './detector/detector-family.js';
import type { DetectorPart } from './detector/detector-part.js';
import { type Measure, unmeasured } from './detector/measure.js';
import { type RunPart, runnerOfPart, runnerOfWhole } from './detector/part-runner.js';
import { runPart } from './detector/run-part.js';
import { runnerOfTiles } from './detector/run-tiles.js';
import { DetectionError } from './error/detection-error.js';
import { listPartModels, type TilesByPart } from './tiles/part-tiles.js';

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
  /** Opens the models on a device. Default: this machine. */
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
    const run = await openParts(models, definition, open);
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
  definition: DetectorDefinition,
  open: (model: ModelSource) => Promise<Session>,
): Promise<RunPart> {
  const { parts, tiles } = definition;
  if (models.kind === 'whole') {
    assertUntiled(definition);
    return runnerOfWhole(await open(models.model), parts);
  }
  checkModelNames(models.parts, definition);
  const runners = new Map<string, RunPart>();
  for (const part of parts) {
    const sessions: Record<string, Session> = {};
    for (const name of listPartModels(part.name, tiles)) sessions[name] = await open(getDefined(models.parts[name], name));
    runners.set(part.name, runnerOfModels(part, sessions, tiles));
  }
  return (name, inputs) => getDefined(runners.get(name), name)(name, inputs);
}

/** Runs one part, on tiles where the recipe says so. `sessions` are by model, those of `listPartModels`. @throws DetectionError `part-values`. */
export function runnerOfModels(part: DetectorPart, sessions: Readonly<Record<string, Session>>, tiles: TilesByPart): RunPart {
  const own = Object.hasOwn(tiles, part.name) ? tiles[part.name] : undefined;
  if (own === undefined || part.rois === 'none') return runnerOfPart(getDefined(sessions[part.name], part.name), part);
  const run = runnerOfTiles(sessions, part, own);
  return (_, inputs) => run(inputs);
}

function assertUntiled({ tiles }: DetectorDefinition): void {
  const [part] = Object.keys(tiles);
  if (part === undefined) return;
  throw new DetectionError('part-values', `the host recipe runs part ${part} on tiles, but one model holds all parts`, {
    help: 'connect the host recipe that `export` wrote with the whole model',
  });
}

/**
 * @param besides 'untiled': parts on tiles may also have their models without tiles.
 * @throws DetectionError `part-missing` unless there is exactly one model per part, and per step of a part on tiles.
 */
export function checkModelNames(
  models: Readonly<Record<string, unknown>>,
  { parts, tiles }: Pick<DetectorDefinition, 'parts' | 'tiles'>,
  besides: 'nothing' | 'untiled' = 'nothing',
): void {
  const wanted = parts.flatMap(({ name }) => listPartModels(name, tiles));
  const missing = wanted.filter(name => !Object.hasOwn(models, name));
  const allowed = besides === 'untiled' ? [...wanted, ...Object.keys(tiles)] : wanted;
  const extra = Object.keys(models).filter(name => !allowed.includes(name));
  if (missing.length === 0 && extra.length === 0) return;
  const problems = [
    ...(missing.length > 0 ? [`no model is given for ${missing.join(', ')}`] : []),
    ...(extra.length > 0 ? [`the recipe has no part ${extra.join(', ')}`] : []),
  ];
  throw new DetectionError('part-missing', `the models do not match the host recipe: ${problems.join('; ')}`, {
    help: [`connect one model per part: {${wanted.map(name => `${name}: …`).join(', ')}}`, ...describeExtra(extra)].join('; '),
  });
}

/** Models on tiles have a recipe of their own; other models are nodes between the parts. */
function describeExtra(extra: readonly string[]): readonly string[] {
  const onTiles = extra.filter(name => /_tiles(_fc)?$/.test(name));
  const others = extra.filter(name => !onTiles.includes(name));
  return [
    ...(onTiles.length === 0
      ? []
      : [`for ${onTiles.join(', ')}, connect the recipe that \`tile-rois\` wrote with ${onTiles.length === 1 ? 'it' : 'them'}`]),
    ...(others.length === 0 ? [] : [`remove ${others.join(', ')}: what runs between the parts is the host's work, as the recipe says`]),
  ];
}

function findPart(parts: readonly DetectorPart[], name: string): DetectorPart | undefined {
  return parts.find(part => part.name === name);
}
