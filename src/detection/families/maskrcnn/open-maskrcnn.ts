/** The host of Mask R-CNN: runs the parts in order, and RoIAlign between them on this machine. */
import type { DetectorHost, HostServices, PartInputs } from '../../detector/detector.js';
import type { RgbImage } from '../../image/decode-image.js';
import type { FittedImage } from '../../image/fit-image.js';
import { type LocatedObjects, locateObjects, type MaskRcnn, readObjects, runNetwork } from './locate-objects.js';
import { prepareImage } from './prepare-image.js';
import type { MaskRcnnRecipe } from './recipe.js';
import type { MaskRcnnSettings } from './settings.js';

export function openMaskRcnn(settings: MaskRcnnSettings, { run, measure }: HostServices): DetectorHost {
  const detector: MaskRcnn = { ...settings, run, measure };
  const prepare = (image: RgbImage): FittedImage => measure('transform', () => prepareImage(settings, image));
  return {
    async trace(image) {
      const fitted = prepare(image);
      const located = await locateObjects(detector, fitted);
      const maskHead = await runNetwork(detector, 'mask_head', located.maskFeatures);
      return {
        inputs: nameInputs(settings.recipe, fitted, located),
        outputs: { backbone: located.backbone, box_head: located.boxHead, mask_head: maskHead },
        objects: readObjects(detector, fitted, located, maskHead),
      };
    },
    async findInputs(image) {
      const fitted = prepare(image);
      return nameInputs(settings.recipe, fitted, await locateObjects(detector, fitted));
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
