/** The part of `sensitivity` that measures the errors of the outputs with one layer in float. The float model's outputs are computed once per run. */

import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { makeValuesFolder, readPair } from '../../src/quant/recovery/model-pair.js';
import { findSteps } from '../../src/quant/sensitivity/find-steps.js';
import { type OutputMeter, openOutputMeter } from '../../src/quant/sensitivity/restored-outputs.js';
import { describeOutputErrors } from '../../src/quant/sensitivity/sensitivity-report.js';
import { defineJsonPart } from '../../src/stage/json-part.js';
import { type Closable, makeOpenOrReuse } from '../../src/stage/reuse-open.js';
import type { SensitivityManifest } from './manifest.js';

export interface LayerManifest extends JsonObject {
  readonly run: SensitivityManifest;
  /** Names of the layer's values in the float model; none: every layer stays quantized. */
  readonly values: readonly string[];
}

export const layerPart = defineJsonPart<LayerManifest>({
  name: 'sensitivity-of-layer',
  version: 1,
  module: import.meta.url,
  async compute({ manifest: { run, values }, unkeyed }) {
    const { measure } = await openOrReuse(JSON.stringify([run, unkeyed.samples]), () => open(unkeyed));
    return [...describeOutputErrors(await measure(values))];
  },
});

interface OpenMeter extends Closable {
  measure(values: readonly string[]): ReturnType<OutputMeter['measure']>;
}

const openOrReuse = makeOpenOrReuse<OpenMeter>();

async function open(unkeyed: Readonly<Record<string, string>>): Promise<OpenMeter> {
  const { float, quantized, samples } = await readPair(unkeyed);
  const models = findSteps(float, quantized);
  const { folder, close } = await makeValuesFolder();
  const meter = await openOutputMeter({ models, samples, folder });
  const ids = new Map([...models.steps.values()].map(({ value }) => [value.name, value.id]));
  return {
    measure: values => meter.measure(new Set(values.map(name => getDefined(ids.get(name), `step of ${name}`)))),
    close,
  };
}
