/** The loss of AP by quantization of the detector, its AP against the recorded ones of onnxruntime.quantization, and the detection of a bad calibration by a bound. */

import { readFileSync } from 'node:fs';
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
/** Allowed AP below the recorded one of the same kind of scales. */
const BELOW_RECORDED = 0.003;

interface Recorded {
  readonly configs: Readonly<Record<string, { readonly AP: Readonly<Record<'bbox' | 'segm', number>> }>>;
}

const describeAP = ({ bbox, segm }: ShapesMetrics): string => `box AP ${bbox.AP.toFixed(4)}, mask AP ${segm.AP.toFixed(4)}`;

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;

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

  it.each<[string, Readonly<Record<'bbox' | 'segm', number>>, string]>([
    ['u8s8', MOST_LOSS, 'u8s8-minmax'],
    ['a8w8', MOST_LOSS, 's8s8sym-minmax (a8w8)'],
    ['xint8', MOST_LOSS_OF_POSITIONS, 'power-of-two, five candidates'],
  ])(
    '%s loses at most the allowed AP, and is at most 0.003 below the recorded one',
    async (preset, allowed, config) => {
      const parts: Record<MaskRcnnPart, string> = { backbone: '', box_head: '', mask_head: '' };
      for (const part of MASKRCNN_PARTS) {
        const inputs = { model: shapes.parts[part], sketches: sketches.get(part) ?? '' };
        parts[part] = (await runStage(quantize, { params: { preset }, inputs, folder: folder.path })).outputs.model ?? '';
      }
      const int8 = await measure(parts);
      const recorded = JSON.parse(readFileSync(join(shared ?? '', 'shapes/maskrcnn/int8_sqnr.json'), 'utf8')) as Recorded;
      process.stderr.write(
        `${preset}: ${describeAP(int8)}; float ${describeAP(float)}; recorded ${JSON.stringify(recorded.configs[config]?.AP)}\n`,
      );
      expect(float.bbox.AP - int8.bbox.AP).toBeLessThanOrEqual(allowed.bbox);
      expect(float.segm.AP - int8.segm.AP).toBeLessThanOrEqual(allowed.segm);
      for (const type of ['bbox', 'segm'] as const)
        expect(int8[type].AP).toBeGreaterThanOrEqual((recorded.configs[config]?.AP[type] ?? Number.NaN) - BELOW_RECORDED);
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
