/** Opens the models of both sides with one recipe, one config and equal session options, and closes them together. */

import type { Detector } from '../../src/detection/detector/detector.js';
import type { DetectorDefinition } from '../../src/detection/detector/detector-family.js';
import type { DetectorPart } from '../../src/detection/detector/detector-part.js';
import type { PartValuesByName } from '../../src/detection/detector/part-runner.js';
import { runPart } from '../../src/detection/detector/run-part.js';
import { DetectionError } from '../../src/detection/error/detection-error.js';
import { type DetectorModels, openDetector, runnerOfModels } from '../../src/detection/open-detector.js';
import { listPartModels } from '../../src/detection/tiles/part-tiles.js';
import type { OpenModel, SessionOptions } from '../../src/runtime/session/session.js';
import type { InputPaths } from '../../src/stage/define-stage.js';
import { getInputPath, getInputRecord } from '../../src/stage/paths.js';
import type { SideForm } from './params.js';

export interface SideOptions {
  readonly definition: DetectorDefinition;
  readonly session: SessionOptions;
  /** Opens the models. */
  readonly open: OpenModel;
}

/** A whole detector, from the port `side`. */
export async function openSide(inputs: InputPaths, side: string, form: SideForm, options: SideOptions): Promise<Detector> {
  const { definition, session, open } = options;
  return openDetector({ definition, models: modelsOf(inputs, side, form) }, { ...session, openModel: open });
}

export interface OpenPart {
  /** RoIs in batches of the recipe's size, or on its tiles. */
  run(inputs: PartValuesByName): Promise<PartValuesByName>;
  close(): Promise<void>;
}

/** The model of one part, from the port `side`. @throws DetectionError `part-missing` if the part runs as several models; `part-values`. */
export async function openPartSide(
  inputs: InputPaths,
  side: string,
  part: DetectorPart,
  { definition, session, open }: SideOptions,
): Promise<OpenPart> {
  const [model = part.name, ...others] = listPartModels(part.name, definition.tiles);
  if (others.length > 0) {
    throw new DetectionError(
      'part-missing',
      `part ${part.name} runs as ${others.length + 1} models on tiles, and port \`${side}\` takes one`,
      {
        help: 'remove `part`: the comparison of whole detectors compares every output of every part',
      },
    );
  }
  const opened = await open(getInputPath(inputs, side), session);
  try {
    const run = runnerOfModels(part, { [model]: opened }, definition.tiles);
    return { run: inputs => runPart(run, part, inputs), close: () => opened.close() };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

function modelsOf(inputs: InputPaths, side: string, form: SideForm): DetectorModels {
  if (form === 'whole') return { kind: 'whole', model: getInputPath(inputs, side) };
  return { kind: 'parts', parts: getInputRecord(inputs, side) };
}

/** Parts that run on tiles on a side. Their inner values lie on canvases, and have no equal on the other side. */
export function listPartsOnTiles(...sides: readonly SideOptions[]): readonly string[] {
  return [...new Set(sides.flatMap(({ definition }) => Object.keys(definition.tiles)))];
}

/** Waits until all are open, uses them, and closes everything that was opened, also after a failure. */
export async function withOpened<T extends readonly Promise<{ close(): Promise<void> }>[]>(
  opening: T,
  use: (opened: { [Index in keyof T]: Awaited<T[Index]> }) => Promise<void>,
): Promise<void> {
  const settled = await Promise.allSettled(opening);
  try {
    await use((await Promise.all(opening)) as { [Index in keyof T]: Awaited<T[Index]> });
  } finally {
    for (const one of settled) if (one.status === 'fulfilled') await one.value.close();
  }
}
