/** How does a Mask R-CNN answer what any detector is asked? Its parts run in order, with RoIAlign on this machine between them. */
import { getDefined } from '../../base/invariant.js';
import type { FamilyDetector, FamilyHost, PartInputs } from '../detector.js';
import type { RgbImage } from '../image.js';
import { openRoiAlign, type RoiAlignSession } from '../roi-align-session.js';
import type { FittedImage } from '../transform.js';
import { type LocatedObjects, locateObjects, type MaskRcnn, readObjects, runNetwork } from './detector.js';
import { prepareImage } from './prepare-image.js';
import type { MaskRcnnRecipe, RoiHead } from './recipe.js';
import type { PoolRois } from './roi-pooling.js';
import type { MaskRcnnSetup } from './setup.js';

export async function openMaskRcnn(setup: MaskRcnnSetup, host: FamilyHost): Promise<FamilyDetector> {
  const detector: MaskRcnn = { ...setup, run: host.run, measure: host.measure, pool: await openPools(setup.recipe, host) };
  const prepare = (image: RgbImage): FittedImage => host.measure('transform', () => prepareImage(setup, image));
  return {
    async trace(image) {
      const fitted = prepare(image);
      const located = await locateObjects(detector, fitted);
      const maskHead = await runNetwork(detector, 'mask_head', located.maskFeatures);
      return {
        inputs: nameInputs(setup.recipe, fitted, located),
        outputs: { backbone: located.backbone, box_head: located.boxHead, mask_head: maskHead },
        objects: readObjects(detector, fitted, located, maskHead),
      };
    },
    async findInputs(image) {
      const fitted = prepare(image);
      return nameInputs(setup.recipe, fitted, await locateObjects(detector, fitted));
    },
  };
}

function nameInputs(recipe: MaskRcnnRecipe, image: FittedImage, { boxFeatures, maskFeatures }: LocatedObjects): PartInputs {
  return {
    backbone: { [recipe.image.value]: image.tensor },
    box_head: { [recipe.boxHead.input]: boxFeatures },
    mask_head: { [recipe.maskHead.input]: maskFeatures },
  };
}

interface HeadPool {
  readonly head: RoiHead;
  readonly session: RoiAlignSession;
}

async function openPools({ boxHead, maskHead }: MaskRcnnRecipe, { options, keep }: FamilyHost): Promise<PoolRois> {
  const pools: HeadPool[] = [];
  for (const head of [boxHead, maskHead]) pools.push({ head, session: keep(await openRoiAlign(head, options)) });
  return (map, boxes, { size, samplingRatio }) => {
    const own = pools.find(({ head }) => head.size === size && head.samplingRatio === samplingRatio);
    return getDefined(own, `a RoIAlign of ${size}×${size}`).session.pool(map, boxes);
  };
}
