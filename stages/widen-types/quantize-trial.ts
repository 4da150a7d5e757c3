/** Opens what quantizes the model of a trial. Model and sketches are read once per run. */
import { readModel } from '../../src/onnx/serde/model-file.js';
import { parseModelSketches } from '../../src/quant/calibration/model-sketches.js';
import { openQuantizer, type Quantizer } from '../../src/quant/open-quantizer.js';
import type { QuantizeParams } from '../../src/quant/settings/quantize-params.js';
import { readJsonFile } from '../../src/stage/json-file.js';
import { getShiftBounds } from '../../src/target/profile/shift-bounds.js';

export async function readQuantizer(
  { model, sketches }: Readonly<Record<'model' | 'sketches', string>>,
  params: QuantizeParams,
): Promise<Quantizer> {
  return openQuantizer({
    float: await readModel(model),
    sketches: parseModelSketches(await readJsonFile(sketches)),
    params,
    limits: getShiftBounds(),
  });
}
