/** The host of YOLACT: runs the network, and converts its outputs to objects. */

import type { Tensor } from '../../../tensor/tensor.js';
import type { DetectorHost, HostServices } from '../../detector/detector.js';
import type { RgbImage } from '../../image/decode-image.js';
import { categoriesOf, findBoxes, findMasks, makeHost } from './objects.js';
import { prepareImage } from './prepare-image.js';
import type { YolactSettings } from './settings.js';

export function openYolact({ recipe, config }: YolactSettings, { run, measure }: HostServices): DetectorHost {
  const host = makeHost(recipe, config);
  const prepare = (image: RgbImage): Readonly<Record<string, Tensor<'float32'>>> => ({
    [recipe.image.value]: measure('transform', () => prepareImage(image, recipe.image, config)),
  });
  return {
    async trace(image) {
      const inputs = prepare(image);
      const outputs = await measure('network', () => run('network', inputs));
      const size = { height: image.height, width: image.width };
      const found = measure('detections', () => findBoxes(host, outputs, size));
      const masks = measure('masks', () => findMasks(host, outputs, found, size));
      const { boxes, selection } = found;
      return {
        inputs: { network: inputs },
        outputs: { network: outputs },
        objects: { size, boxes, scores: selection.scores, labels: categoriesOf(selection.classes, config), masks: { kind: 'runs', masks } },
      };
    },
    findInputs: async image => ({ network: prepare(image) }),
  };
}
