/** Which models stand on the two sides? Opened with one recipe, one config and equal session options, and closed together. */
import type { FitPolicy, MaskRcnnPart, MaskRcnnRecipe } from '../../src/detection/recipe.js';
import type { DetectorConfig } from '../../src/detection/torchvision/config.js';
import { type DetectorModels, type OpenDetector, openDetector } from '../../src/detection/torchvision/open-detector.js';
import { type RunPart, runnerOfPart } from '../../src/detection/torchvision/part-runner.js';
import type { OpenModel, SessionOptions } from '../../src/runtime/session.js';
import type { InputPaths } from '../../src/stage/define-stage.js';
import { getInputPath, getInputRecord } from '../../src/stage/paths.js';
import type { SideForm } from './params.js';

export interface SideOptions {
  readonly recipe: MaskRcnnRecipe;
  readonly config: DetectorConfig;
  readonly fit: FitPolicy | undefined;
  readonly session: SessionOptions;
  /** Where the models run. */
  readonly open: OpenModel;
}

/** A whole detector, from the port `side`. */
export async function openSide(inputs: InputPaths, side: string, form: SideForm, options: SideOptions): Promise<OpenDetector> {
  const { recipe, config, fit, session, open } = options;
  return openDetector({ recipe, config, fit, models: modelsOf(inputs, side, form) }, session, open);
}

export interface OpenPart {
  readonly run: RunPart;
  close(): Promise<void>;
}

/** The model of one part, from the port `side`. */
export async function openPartSide(
  inputs: InputPaths,
  side: string,
  part: MaskRcnnPart,
  { recipe, session, open }: SideOptions,
): Promise<OpenPart> {
  const opened = await open(getInputPath(inputs, side), session);
  return { run: runnerOfPart(opened, part, recipe), close: () => opened.close() };
}

function modelsOf(inputs: InputPaths, side: string, form: SideForm): DetectorModels {
  if (form === 'whole') return { kind: 'whole', model: getInputPath(inputs, side) };
  const { backbone = '', box_head = '', mask_head = '' } = getInputRecord(inputs, side);
  return { kind: 'parts', backbone, box_head, mask_head };
}

/** Waits for what is being opened, uses it, and closes all of it that was opened, whatever fails. */
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
