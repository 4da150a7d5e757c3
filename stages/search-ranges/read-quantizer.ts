/** Opens what quantizes the model of a trial. */
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { parseModelSketches } from '../../src/quant/calibration/model-sketches.js';
import { openQuantizer, type Quantizer } from '../../src/quant/open-quantizer.js';
import type { QuantizeParams } from '../../src/quant/settings/quantize-params.js';
import { readJsonFile } from '../../src/stage/json-file.js';
import { getShiftBounds } from '../../src/target/profile/shift-bounds.js';

/** @param params of `quantize`, checked. */
export async function readQuantizer(paths: Readonly<Record<string, string>>, params: JsonObject): Promise<Quantizer> {
  return openQuantizer({
    float: await readModel(getDefined(paths.model, 'model')),
    sketches: parseModelSketches(await readJsonFile(getDefined(paths.sketches, 'sketches'))),
    params: params as QuantizeParams,
    limits: getShiftBounds(),
  });
}
