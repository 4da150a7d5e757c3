/** Equalization of a detector whose hidden channels are rescaled by 2⁻⁴ … 2⁴: float outputs, and AP at 8 bits with one scale per tensor. */
import { join } from 'node:path';
import { MASKRCNN_PARTS, type MaskRcnnPart } from '../../../src/detection/families/maskrcnn/part-names.js';
import { openSession } from '../../../src/runtime/session/session.js';
import { calibrate } from '../../../stages/calibrate/stage.js';
import { quantize } from '../../../stages/quantize/stage.js';
import { rewrite } from '../../../stages/rewrite/stage.js';
import { measureShapes, type ShapesMetrics } from '../../support/measure-shapes.js';
import { givenFolder, runStage } from '../../support/run-stage.js';
import { type ShapesParts, writeShapesParts } from '../../support/shapes-parts.js';
import { findSharedFolder } from '../../support/shared-folder.js';
import { randomFloats } from '../../support/small-model.js';
import { storingMemo } from '../../support/storing-memo.js';

/** AP of the original network at 8 bits and in float, and how far the equalized one may be outside. */
const INT8 = { bbox: 0.679, segm: 0.5 } as const;
const FLOAT = { bbox: 0.6804, segm: 0.5038 } as const;
const TOLERANCE = 0.003;

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;

suite('the rescaled detector', () => {
  const folder = givenFolder('rescaled');
  let shapes: ShapesParts;
  const memo = storingMemo(folder);

  beforeAll(async () => {
    shapes = await writeShapesParts(folder.path, join(shared ?? '', 'shapes/maskrcnn/maskrcnn-shapes-rescaled.safetensors'));
  }, 300_000);

  it('keeps every bit of its float outputs with powers of two', async () => {
    const feeds = { image: randomFloats([1, 3, 192, 256]) };
    const run = async (path: string) => {
      const session = await openSession(path, { optimization: 'all' });
      return session.run(feeds).finally(() => session.close());
    };
    const { backbone } = await equalized('power-of-two');
    expect(await run(backbone)).toEqual(await run(shapes.parts.backbone));
  }, 300_000);

  it.each(['real', 'power-of-two'] as const)('has the AP of the original network at u8s8 after equalize/%s', async form => {
    const metrics = await measure(await quantized(await equalized(form)));
    for (const kind of ['bbox', 'segm'] as const) {
      expect(metrics[kind].AP).toBeGreaterThanOrEqual(INT8[kind] - TOLERANCE);
      expect(metrics[kind].AP).toBeLessThanOrEqual(FLOAT[kind] + TOLERANCE);
    }
  }, 900_000);

  it('finds nothing at u8s8 without equalization', async () => {
    expect((await measure(await quantized(shapes.parts))).bbox.AP).toBe(0);
  }, 900_000);

  async function equalized(form: string): Promise<Record<MaskRcnnPart, string>> {
    const parts: Record<MaskRcnnPart, string> = { ...shapes.parts };
    for (const part of MASKRCNN_PARTS) {
      const params = { rules: [{ name: 'equalize', form, matches: 'any' }], samples: 0 };
      const { outputs } = await runStage(rewrite, { params, inputs: { model: shapes.parts[part] }, folder: folder.path });
      parts[part] = outputs.model ?? '';
    }
    return parts;
  }

  async function quantized(float: Readonly<Record<MaskRcnnPart, string>>): Promise<Record<MaskRcnnPart, string>> {
    const parts: Record<MaskRcnnPart, string> = { ...float };
    for (const part of MASKRCNN_PARTS) {
      const { outputs: calibrated } = await runStage(calibrate, {
        params: { part, samples: 16 },
        inputs: { model: float[part], recipe: shapes.recipePath, config: shapes.configPath, data: shapes.calib, detector: shapes.parts },
        folder: folder.path,
        memo: memo.memo,
      });
      const inputs = { model: float[part], sketches: calibrated.sketches ?? '' };
      parts[part] = (await runStage(quantize, { params: { preset: 'u8s8' }, inputs, folder: folder.path })).outputs.model ?? '';
    }
    return parts;
  }

  const measure = (parts: Readonly<Record<MaskRcnnPart, string>>): Promise<ShapesMetrics> =>
    measureShapes(shapes, parts, { folder: folder.path, memo: memo.memo });
});
