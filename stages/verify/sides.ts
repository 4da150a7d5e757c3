/** Opens the models of both sides with one recipe, one config and equal session options, and closes them together. */

import type { Detector } from '../../src/detection/detector/detector.js';
import type { DetectorDefinition } from '../../src/detection/detector/detector-family.js';
import type { DetectorPart } from '../../src/detection/detector/detector-part.js';
import { type PartValuesByName, runnerOfPart } from '../../src/detection/detector/part-runner.js';
import { runPart } from '../../src/detection/detector/run-part.js';
import { type DetectorModels, openDetector } from '../../src/detection/open-detector.js';
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
  /** RoIs in batches of the recipe's size. */
  run(inputs: PartValuesByName): Promise<PartValuesByName>;
  close(): Promise<void>;
}

/** The model of one part, from the port `side`. */
export async function openPartSide(
  inputs: InputPaths,
  side: string,
  part: DetectorPart,
  { session, open }: SideOptions,
): Promise<OpenPart> {
  const opened = await open(getInputPath(inputs, side), session);
  try {
    const run = runnerOfPart(opened, part);
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
