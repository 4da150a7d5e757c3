/** The loss of AP by quantization of the detector, and its detection by a bound when the calibration is bad. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MASKRCNN_PARTS, type MaskRcnnPart } from '../../../src/detection/families/maskrcnn/part-names.js';
import { readModel } from '../../../src/onnx/serde/model-file.js';
import { encodeModelSketches } from '../../../src/quant/calibration/model-sketches.js';
import { calibrate } from '../../../stages/calibrate/stage.js';
import { quantize } from '../../../stages/quantize/stage.js';
import { measureShapes, type ShapesMetrics } from '../../support/measure-shapes.js';
import { sketchNoise } from '../../support/noise-calibration.js';
import { givenFolder, runStage } from '../../support/run-stage.js';
import { type ShapesParts, writeShapesParts } from '../../support/shapes-parts.js';
import { findSharedFolder } from '../../support/shared-folder.js';
import { storingMemo } from '../../support/storing-memo.js';

/** Allowed loss of int8 against the float parts, on the 200 validation images. */
const MOST_LOSS = { bbox: 0.006, segm: 0.008 } as const;
/** The same for power-of-two scales. */
const MOST_LOSS_OF_POSITIONS = { bbox: 0.008, segm: 0.008 } as const;

// The data is the project's own. The test is in this suite because of its duration.
const suite = findSharedFolder() === undefined ? describe.skip : describe;

suite('the int8 detector on all validation images', () => {
  const folder = givenFolder('int8');
  let shapes: ShapesParts;
  const memo = storingMemo(folder);
  let float: ShapesMetrics;
  const sketches = new Map<MaskRcnnPart, string>();

  beforeAll(async () => {
    shapes = await writeShapesParts(folder.path);
    for (const part of MASKRCNN_PARTS) {
      const { outputs } = await runStage(calibrate, {
        params: { part, samples: 16 },
        inputs: {
          model: shapes.parts[part],
          recipe: shapes.recipePath,
          config: shapes.configPath,
          data: shapes.calib,
          detector: shapes.parts,
        },
        folder: folder.path,
        memo: memo.memo,
      });
      sketches.set(part, outputs.sketches ?? '');
    }
    float = await measure(shapes.parts);
  }, 900_000);

  it.each<[string, Readonly<Record<'bbox' | 'segm', number>>]>([
    ['u8s8', MOST_LOSS],
    ['a8w8', MOST_LOSS],
    ['xint8', MOST_LOSS_OF_POSITIONS],
  ])(
    '%s loses at most the allowed AP',
    async (preset, allowed) => {
      const parts: Record<MaskRcnnPart, string> = { backbone: '', box_head: '', mask_head: '' };
      for (const part of MASKRCNN_PARTS) {
        const inputs = { model: shapes.parts[part], sketches: sketches.get(part) ?? '' };
        parts[part] = (await runStage(quantize, { params: { preset }, inputs, folder: folder.path })).outputs.model ?? '';
      }
      const int8 = await measure(parts);
      expect(float.bbox.AP - int8.bbox.AP).toBeLessThanOrEqual(allowed.bbox);
      expect(float.segm.AP - int8.segm.AP).toBeLessThanOrEqual(allowed.segm);
    },
    600_000,
  );

  it('calibrated on noise, it misses the bound', async () => {
    const parts: Record<MaskRcnnPart, string> = { backbone: '', box_head: '', mask_head: '' };
    for (const part of MASKRCNN_PARTS) {
      const model = await readModel(shapes.parts[part]);
      const { boxHead, maskHead } = shapes.recipe;
      const noise = join(folder.path, `noise-${part}.json`);
      const channels = part === 'mask_head' ? maskHead.channels : boxHead.channels;
      await writeFile(noise, JSON.stringify(encodeModelSketches(await sketchNoise(model, part, channels))));
      const inputs = { model: shapes.parts[part], sketches: noise };
      parts[part] = (await runStage(quantize, { params: { preset: 'a8w8' }, inputs, folder: folder.path })).outputs.model ?? '';
    }
    expect(float.bbox.AP - (await measure(parts)).bbox.AP).toBeGreaterThan(MOST_LOSS.bbox);
  }, 600_000);

  const measure = (parts: Readonly<Record<MaskRcnnPart, string>>): Promise<ShapesMetrics> =>
    measureShapes(shapes, parts, { folder: folder.path, memo: memo.memo });
});
