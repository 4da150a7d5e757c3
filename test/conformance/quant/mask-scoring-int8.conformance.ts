/** Mask Scoring R-CNN in float and int8 against the original: recorded detections, figures, and int8 losses of onnxruntime.quantization. */

import { join } from 'node:path';
import type { Json, JsonObject } from '../../../src/base/json.js';
import { listImages, takeFirstImages } from '../../../src/detection/data/image-list.js';
import { collectPartInputs } from '../../../src/detection/detector/part-inputs.js';
import { MASKSCORING_PARTS, type MaskScoringPart } from '../../../src/detection/families/maskscoring/part-names.js';
import { openDetector } from '../../../src/detection/open-detector.js';
import { readDefinition } from '../../../src/detection/read-definition.js';
import { openSession } from '../../../src/runtime/session/session.js';
import { readJsonFile } from '../../../src/stage/json-file.js';
import { type Comparison, compareArrays, mergeComparisons, NO_COMPARISON, sqnrDbOf } from '../../../src/tensor/compare.js';
import type { Tensor } from '../../../src/tensor/tensor.js';
import { calibrate } from '../../../stages/calibrate/stage.js';
import { evaluate } from '../../../stages/evaluate/stage.js';
import { quantize } from '../../../stages/quantize/stage.js';
import { givenFolder, runStage } from '../../support/run-stage.js';
import { type ScoringParts, writeScoringParts } from '../../support/shapes-parts.js';
import { findSharedFolder } from '../../support/shared-folder.js';
import { storingMemo } from '../../support/storing-memo.js';

/** Number of RoIs per image in the recording, and the smallest number with which an image is used. */
const ROIS = {
  backbone: { max: 50, min: 1 },
  box_head: { max: 50, min: 1 },
  mask_head: { max: 8, min: 8 },
  maskiou_head: { max: 8, min: 1 },
} as const;

const CONFIGS: Readonly<Record<string, JsonObject>> = {
  'u8s8-minmax': { preset: 'u8s8' },
  'u8s8-minmax-perchannel': { preset: 'u8s8', weight: { perChannel: true } },
  's8s8sym-minmax (a8w8)': { preset: 'a8w8' },
};

/** Allowed differences: float figures, and AP and SQNR in int8 below the recorded ones. */
const FLOAT_AP = 0.002;
const BELOW_RECORDED = 0.003;
const BOUND_DB = 0.5;

type Figures = Readonly<Record<'bbox' | 'segm', Readonly<Record<string, number>>>>;
type Paths = Readonly<Record<MaskScoringPart, string>>;

interface Baseline {
  readonly configs: Readonly<
    Record<string, { readonly AP: { readonly bbox: number; readonly segm: number }; readonly sqnr_db: { readonly mask_iou: number } }>
  >;
}

interface Found {
  readonly image_id: number;
  readonly category_id: number;
  readonly score: number;
  readonly mask_score: number;
}

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;

suite('Mask Scoring R-CNN on the validation images', () => {
  const read = async <T>(file: string): Promise<T> => (await readJsonFile(join(shared ?? '', 'shapes/mask-scoring', file))) as Json as T;
  const folder = givenFolder('mask-scoring');
  let shapes: ScoringParts;
  const memo = storingMemo(folder);
  const sketches = new Map<MaskScoringPart, string>();

  beforeAll(async () => {
    shapes = await writeScoringParts(folder.path);
    const { recipePath: recipe, configPath: config, calib: data, parts: detector } = shapes;
    for (const part of MASKSCORING_PARTS) {
      const { outputs } = await runStage(calibrate, {
        params: { part, samples: 16, rois: ROIS[part] },
        inputs: { model: shapes.parts[part], recipe, config, data, detector },
        folder: folder.path,
        memo: memo.memo,
      });
      sketches.set(part, outputs.sketches ?? '');
    }
  }, 900_000);

  describe('all 200 images', () => {
    let float: Figures;
    let found: readonly Found[];
    let recorded: Figures;
    beforeAll(async () => {
      const { metrics = '', detections = '' } = await measure(shapes.parts);
      float = (await readJsonFile(metrics)) as Json as Figures;
      found = (await readJsonFile(detections)) as unknown as Found[];
      recorded = (await read<{ figures: Figures }>('figures_val.json')).figures;
    }, 300_000);

    it.each(['bbox', 'segm'] as const)('float: each %s figure equals the original within 0.002, for large objects within 0.012', type => {
      const off = Object.entries(recorded[type]).filter(([name, value]) => {
        // val has 16 large objects: one of them changes a figure by more than 0.002.
        return !(Math.abs((float[type][name] ?? Number.NaN) - value) <= (name.endsWith('large') ? 0.012 : FLOAT_AP));
      });
      expect(off).toEqual([]);
    });

    it('float: at least 99 % of the recorded detections are found, with the scores of box and mask within 1e-3', async () => {
      const [boxes, masks] = [await read<Found[]>('boxes_val.json'), await read<Found[]>('masks_val.json')];
      const near = (a: number, b = Number.NaN): boolean => Math.abs(a - b) < 1e-3;
      const known = boxes.filter(({ image_id, category_id, score }, index) =>
        found.some(
          one =>
            one.image_id === image_id &&
            one.category_id === category_id &&
            near(one.score, score) &&
            near(one.mask_score, masks[index]?.score),
        ),
      );
      expect(known.length / boxes.length).toBeGreaterThanOrEqual(0.99);
    });

    it('a8w8: AP is at most 0.003 below the recorded one', async () => {
      const config = 's8s8sym-minmax (a8w8)';
      const paths: [MaskScoringPart, string][] = [];
      for (const part of MASKSCORING_PARTS) paths.push([part, await quantizePart(part, config)]);
      const { metrics = '' } = await measure(Object.fromEntries(paths) as Paths);
      const int8 = (await readJsonFile(metrics)) as Json as Figures;
      const baseline = (await read<Baseline>('int8_baseline.json')).configs[config]?.AP;
      for (const type of ['bbox', 'segm'] as const) {
        expect(int8[type].AP ?? 0).toBeGreaterThanOrEqual((baseline?.[type] ?? Number.NaN) - BELOW_RECORDED);
      }
    }, 600_000);
  });

  describe('the MaskIoU head', () => {
    let feeds: readonly Readonly<Record<string, Tensor>>[];
    beforeAll(async () => {
      const definition = readDefinition({ recipe: shapes.recipe });
      const detector = await openDetector({ definition, models: { kind: 'parts', parts: shapes.parts } }, { optimization: 'all' });
      const images = takeFirstImages(listImages(await readJsonFile(shapes.val.annotations)), 32);
      const inputs = [];
      for (const { fileName } of images)
        inputs.push(await collectPartInputs(detector, join(shapes.val.images, fileName), () => Number.POSITIVE_INFINITY));
      await detector.close();
      feeds = inputs.flatMap(({ maskiou_head }) => (maskiou_head?.mask_probability?.dims[0] ? [maskiou_head] : []));
    }, 300_000);

    it.each(Object.keys(CONFIGS))(`%s: at most ${BOUND_DB} dB below the recorded figure`, async config => {
      const { sqnr_db } = (await read<Baseline>('int8_baseline.json')).configs[config] ?? { sqnr_db: { mask_iou: Number.NaN } };
      const sqnr = await compare(shapes.parts.maskiou_head, await quantizePart('maskiou_head', config));
      expect(sqnr).toBeGreaterThanOrEqual(sqnr_db.mask_iou - BOUND_DB);
    });

    /** 10·log10(Σx² / Σ(x − q)²) over all objects of the images. */
    async function compare(exact: string, int8: string): Promise<number> {
      const [x, q] = [await openSession(exact, { optimization: 'all' }), await openSession(int8, { optimization: 'all' })];
      let sum: Comparison = NO_COMPARISON;
      for (const feed of feeds) {
        const [a, b] = [await x.run(feed), await q.run(feed)];
        sum = mergeComparisons(sum, compareArrays(a.mask_iou?.data as Float32Array, b.mask_iou?.data as Float32Array));
      }
      await x.close();
      await q.close();
      return sqnrDbOf(sum);
    }
  });

  async function quantizePart(part: MaskScoringPart, config: string): Promise<string> {
    const inputs = { model: shapes.parts[part], sketches: sketches.get(part) ?? '' };
    return (await runStage(quantize, { params: CONFIGS[config] ?? {}, inputs, folder: folder.path })).outputs.model ?? '';
  }

  async function measure(parts: Paths): Promise<Readonly<Record<string, string>>> {
    const inputs = { parts, recipe: shapes.recipePath, config: shapes.configPath, data: shapes.val };
    return (await runStage(evaluate, { params: { optimization: 'all' }, inputs, folder: folder.path, memo: memo.memo })).outputs;
  }
});
