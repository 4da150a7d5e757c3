/** How is a detector opened from files? Recipe and config parsed, sessions of its parts opened, all closed together. */
import { getDefined } from '../../base/invariant.js';
import { type OpenModel, openSession, type Session, type SessionOptions } from '../../runtime/session.js';
import { DetectionError } from '../detection-error.js';
import type { FitPolicy, MaskRcnnRecipe, RoiHead } from '../recipe.js';
import type { RoiAlignOptions } from '../roi-align.js';
import { openRoiAlign, type RoiAlignSession } from '../roi-align-session.js';
import type { DetectorConfig } from './config.js';
import type { Detector } from './detector.js';
import { runnerOfParts, runnerOfWhole } from './part-runner.js';
import type { PoolRois } from './roi-pooling.js';

/** A model's path (so that external data is found), or its bytes. */
export type ModelSource = string | Uint8Array;

/** One model per part, or one that holds all parts (`export`'s). */
export type DetectorModels =
  | { readonly kind: 'parts'; readonly backbone: ModelSource; readonly box_head: ModelSource; readonly mask_head: ModelSource }
  | { readonly kind: 'whole'; readonly model: ModelSource };

export interface DetectorFiles {
  readonly recipe: MaskRcnnRecipe;
  readonly config: DetectorConfig;
  readonly models: DetectorModels;
  /** The recipe's where absent. */
  readonly fit?: FitPolicy | undefined;
}

export interface OpenDetector extends Detector {
  close(): Promise<void>;
}

/**
 * @param openModel opens the parts, on whatever device; the host's own work (RoIAlign) runs here.
 * @throws DetectionError `part-values`, `config-mismatch`; RuntimeError `model-load`.
 */
export async function openDetector(
  { recipe, config, models, fit }: DetectorFiles,
  options: SessionOptions,
  openModel: OpenModel = openSession,
): Promise<OpenDetector> {
  checkConfigFits(recipe, config);
  const sessions: Pick<Session, 'close'>[] = [];
  const open = async (model: ModelSource): Promise<Session> => {
    const session = await openModel(model, options);
    sessions.push(session);
    return session;
  };
  const openPool = async (align: RoiAlignOptions): Promise<RoiAlignSession> => {
    const session = await openRoiAlign(align, options);
    sessions.push(session);
    return session;
  };
  const close = async (): Promise<void> => {
    for (const session of sessions) await session.close();
  };
  try {
    const run =
      models.kind === 'whole'
        ? runnerOfWhole(await open(models.model), recipe)
        : runnerOfParts(
            { backbone: await open(models.backbone), box_head: await open(models.box_head), mask_head: await open(models.mask_head) },
            recipe,
          );
    const pools = [recipe.boxHead, recipe.maskHead].map(async head => ({ head, session: await openPool(head) }));
    return { recipe, config, fit: fit ?? recipe.image.fit, run, pool: poolWith(await Promise.all(pools)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface HeadPool {
  readonly head: RoiHead;
  readonly session: RoiAlignSession;
}

function poolWith(pools: readonly HeadPool[]): PoolRois {
  return (map, boxes, { size, samplingRatio }) => {
    const own = pools.find(({ head }) => head.size === size && head.samplingRatio === samplingRatio);
    return getDefined(own, `a RoIAlign of ${size}×${size}`).session.pool(map, boxes);
  };
}

/** What the networks were built with cannot be changed after: the config's other values can. */
function checkConfigFits(recipe: MaskRcnnRecipe, config: DetectorConfig): void {
  const built = recipe.config;
  const facts = (from: DetectorConfig): Readonly<Record<string, number | string>> => ({
    numClasses: from.numClasses,
    'box.roiSize': from.box.roiSize,
    'mask.roiSize': from.mask.roiSize,
    'anchors per cell of each level': from.anchors.sizes.map(sizes => sizes.length * from.anchors.aspectRatios.length).join(', '),
  });
  const [there, wanted] = [facts(config), facts(built)];
  const problems = Object.keys(wanted)
    .filter(name => there[name] !== wanted[name])
    .map(name => `${name} is ${there[name]}, the model was built for ${wanted[name]}`);
  if (problems.length > 0)
    throw new DetectionError('config-mismatch', `the detector config does not fit the model: ${problems.join('; ')}`, {
      details: problems,
    });
}
