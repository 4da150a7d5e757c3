/** How does Mask Scoring R-CNN answer what any detector is asked? As Mask R-CNN does; then its fourth part looks at the masks. */
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

  const show = (inputs: PartInputs, { masks }: DetectedObjects): PartValuesByName => {
    invariant(masks.kind === 'squares', `Mask R-CNN gives squares of probabilities, not ${masks.kind}`);
    const features = getDefined(inputs.mask_head?.[recipe.maskHead.input], recipe.maskHead.input);
    return { [input]: features, [maskProbability]: host.measure('masks', () => poolMasks(masks)) };
  };
  return {
    async trace(image) {
      const { inputs, outputs, objects } = await network.trace(image);
      const shown = show(inputs, objects);
      const scored = await host.measure('maskiou_head', () => runPart(host.run, head, shown));
      const ious = getPartValue(scored, maskIou, [objects.labels.length, config.numClasses]);
      return {
        inputs: { ...inputs, maskiou_head: shown },
        outputs: { ...outputs, maskiou_head: scored },
        objects: { ...objects, maskScores: scoreMasks(objects.scores, objects.labels, ious, config.numClasses) },
      };
    },
    async findInputs(image) {
      const { inputs, objects } = await network.trace(image);
      return { ...inputs, maskiou_head: show(inputs, objects) };
    },
  };
}
