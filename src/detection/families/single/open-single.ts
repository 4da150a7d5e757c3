/** The host of a single-network detector: preprocess, run, decode, select. */

import { getDefined } from '../../../base/invariant.js';
import { takeFirstOfBatch } from '../../data/image-feeds.js';
import type { DetectorHost, HostServices, PartInputs } from '../../detector/detector.js';
import type { DetectorPart } from '../../detector/detector-part.js';
import type { PartValuesByName } from '../../detector/part-runner.js';
import { runPart } from '../../detector/run-part.js';
import { listDecodedOutputs, openDecode } from './decoder/decode.js';
import { selectObjects } from './select-objects.js';
import { batchOfSingle, listSingleParts, prepareSingle, type SingleSettings } from './settings.js';

/** @throws DetectionError `decoder-module`. */
export async function openSingle({ recipe }: SingleSettings, { run, measure }: HostServices): Promise<DetectorHost> {
  const decode = await openDecode(recipe.decoder);
  const { selection, categories } = recipe;
  const parts = listSingleParts(recipe);
  const decoded = listDecodedOutputs(recipe.decoder);
  const batch = batchOfSingle(recipe);
  return {
    async trace(pixels) {
      const { values: prepared, placement } = measure('transform', () => prepareSingle(recipe, pixels));
      const inputs: Record<string, PartValuesByName> = {};
      const outputs: Record<string, PartValuesByName> = {};
      let values: PartValuesByName = prepared;
      for (const part of parts) {
        const taken = takeInputs(part, values);
        const given = await measure(part.name, () => runPart(run, part, taken));
        inputs[part.name] = taken;
        outputs[part.name] = given;
        values = { ...values, ...given };
      }
      const objects = measure('detections', () => {
        const { scoreThreshold, labels } = selection;
        const found = decode(takeFirst(values, decoded, batch), {
          input: placement.input,
          classes: categories.length,
          scoreThreshold,
          labels,
        });
        return selectObjects(found, placement, recipe);
      });
      return { inputs, outputs, objects };
    },
    async findInputs(pixels) {
      const inputs: Record<string, PartValuesByName> = {};
      let values: PartValuesByName = measure('transform', () => prepareSingle(recipe, pixels)).values;
      for (const [index, part] of parts.entries()) {
        const taken = takeInputs(part, values);
        inputs[part.name] = taken;
        if (index < parts.length - 1) values = { ...values, ...(await measure(part.name, () => runPart(run, part, taken))) };
      }
      return inputs satisfies PartInputs;
    },
  };
}

/** What the decoder reads, of the first image of a batch. */
function takeFirst(values: PartValuesByName, decoded: readonly string[], batch: number): PartValuesByName {
  if (batch === 1) return values;
  const first = decoded.map(name => [name, takeFirstOfBatch(name, getDefined(values[name], `output "${name}"`), batch)] as const);
  return { ...values, ...Object.fromEntries(first) };
}

/** The values that a part reads. */
function takeInputs({ name, values }: DetectorPart, known: PartValuesByName): PartValuesByName {
  return Object.fromEntries(values.inputs.map(input => [input, getDefined(known[input], `input "${input}" of part ${name}`)]));
}
