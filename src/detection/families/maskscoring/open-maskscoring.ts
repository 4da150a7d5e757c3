/** The host of Mask Scoring R-CNN: the host of Mask R-CNN, then the MaskIoU head on the masks. */
import { getDefined, invariant } from '../../../base/invariant.js';
import type { DetectedObjects, DetectorHost, HostServices, PartInputs } from '../../detector/detector.js';
import { getPartValue, type PartValuesByName } from '../../detector/part-runner.js';
import { runPart } from '../../detector/run-part.js';
import { openMaskRcnn } from '../maskrcnn/open-maskrcnn.js';
import { poolMasks, scoreMasks } from './mask-iou.js';
import { withoutMaskIouHead } from './recipe.js';
import { describeMaskIouHead, type MaskScoringSettings } from './settings.js';

export function openMaskScoring({ recipe, config, fit }: MaskScoringSettings, host: HostServices): DetectorHost {
  const network = openMaskRcnn({ recipe: withoutMaskIouHead(recipe), config, fit }, host);
  const head = describeMaskIouHead(recipe);
  const { input, maskProbability, maskIou } = recipe.maskIouHead;

  const makeHeadInput = (inputs: PartInputs, { masks }: DetectedObjects): PartValuesByName => {
    invariant(masks.kind === 'squares', `expected masks of kind squares from Mask R-CNN, got ${masks.kind}`);
    const features = getDefined(inputs.mask_head?.[recipe.maskHead.input], recipe.maskHead.input);
    return { [input]: features, [maskProbability]: host.measure('masks', () => poolMasks(masks)) };
  };
  return {
    async trace(image) {
      const { inputs, outputs, objects } = await network.trace(image);
      const headInput = makeHeadInput(inputs, objects);
      const scored = await host.measure('maskiou_head', () => runPart(host.run, head, headInput));
      const ious = getPartValue(scored, maskIou, [objects.labels.length, config.numClasses]);
      return {
        inputs: { ...inputs, maskiou_head: headInput },
        outputs: { ...outputs, maskiou_head: scored },
        objects: { ...objects, maskScores: scoreMasks(objects.scores, objects.labels, ious, config.numClasses) },
      };
    },
    async findInputs(image) {
      const { inputs, objects } = await network.trace(image);
      return { ...inputs, maskiou_head: makeHeadInput(inputs, objects) };
    },
  };
}
