/** The host of a single-network detector: preprocess, run, decode, select. */
import type { DetectorHost, HostServices } from '../../detector/detector.js';
import { openDecode } from './decoder/decode.js';
import { selectObjects } from './select-objects.js';
import { prepareSingle, type SingleSettings } from './settings.js';

/** @throws DetectionError `decoder-module`. */
export async function openSingle({ recipe }: SingleSettings, { run, measure }: HostServices): Promise<DetectorHost> {
  const decode = await openDecode(recipe.decoder);
  const { selection, categories, image } = recipe;
  return {
    async trace(pixels) {
      const { tensor, placement } = measure('transform', () => prepareSingle(recipe, pixels));
      const inputs = { [image.value]: tensor };
      const outputs = await measure('model', () => run('model', inputs));
      const objects = measure('detections', () => {
        const { scoreThreshold, labels } = selection;
        const found = decode(outputs, { input: placement.input, classes: categories.length, scoreThreshold, labels });
        return selectObjects(found, placement, recipe);
      });
      return { inputs: { model: inputs }, outputs: { model: outputs }, objects };
    },
    async findInputs(pixels) {
      return { model: { [image.value]: measure('transform', () => prepareSingle(recipe, pixels)).tensor } };
    },
  };
}
