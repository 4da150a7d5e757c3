/** YOLACT's suppressions against recorded results of the original code, on the trained network's outputs for three images. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PartValuesByName } from '../../../../../src/detection/detector/part-runner.js';
import { type Candidates, findCandidates } from '../../../../../src/detection/families/yolact/candidates.js';
import type { DetectionConfig } from '../../../../../src/detection/families/yolact/config.js';
import type { YolactExport } from '../../../../../src/detection/families/yolact/export/export-yolact.js';
import { makeHost } from '../../../../../src/detection/families/yolact/objects.js';
import { prepareImage } from '../../../../../src/detection/families/yolact/prepare-image.js';
import { selectCandidates } from '../../../../../src/detection/families/yolact/suppression.js';
import { decodeImage } from '../../../../../src/detection/image/decode-image.js';
import { encodeModel } from '../../../../../src/onnx/serde/encode-model.js';
import { openSession } from '../../../../../src/runtime/session/session.js';
import { fixturePath } from '../../../../support/fixtures.js';
import { SHAPES_FOLDER } from '../../../../support/shapes.js';
import { exportYolactShapes } from '../../../../support/yolact-outputs.js';

interface Recorded {
  readonly image: number;
  readonly nms: DetectionConfig['nms'];
  readonly scoreThreshold: number;
  readonly classes: readonly number[];
  readonly scores: readonly number[];
  readonly boxes: readonly (readonly number[])[];
}

describe('suppression of trained outputs', () => {
  let exported: YolactExport;
  let recorded: readonly Recorded[];
  const outputs = new Map<number, PartValuesByName>();

  beforeAll(async () => {
    recorded = (JSON.parse(await readFile(fixturePath('detection/yolact-nms.json'), 'utf8')) as { recorded: Recorded[] }).recorded;
    exported = await exportYolactShapes();
    const { recipe } = exported;
    const session = await openSession(encodeModel(exported.model), { optimization: 'all' });
    for (const id of new Set(recorded.map(({ image }) => image))) {
      const name = `${String(id).padStart(12, '0')}.jpg`;
      const image = await decodeImage(await readFile(join(SHAPES_FOLDER, 'data/val', name)), name);
      const values = await session.run({ image: prepareImage(image, recipe.image, recipe.config) });
      outputs.set(
        id,
        Object.fromEntries(Object.entries(values).flatMap(([key, value]) => (value.dtype === 'float32' ? [[key, value]] : []))),
      );
    }
    await session.close();
  });

  it.each([
    'fast',
    'fast-cross-class',
    'traditional',
  ] as const)('%s keeps the boxes, classes and scores that the original keeps, in its order', nms => {
    const own = recorded.filter(one => one.nms === nms);
    expect(own).toHaveLength(6);
    for (const { image, scoreThreshold, classes, scores, boxes } of own) {
      const { recipe } = exported;
      const detection = { ...recipe.config.detection, nms, scoreThreshold };
      const config = { ...recipe.config, detection };
      const candidates = findCandidates(outputs.get(image) ?? {}, recipe, config, makeHost(recipe, config).priors);
      const kept = selectCandidates(candidates, detection, recipe.image.width);
      expect([...kept.classes]).toEqual(classes);
      expect(worst([...kept.scores], scores)).toBeLessThan(2e-5);
      expect(worst(boxesOf(candidates, kept.candidates), boxes.flat())).toBeLessThan(2e-5);
    }
  });
});

function boxesOf({ boxes }: Candidates, indices: Int32Array): number[] {
  return [...indices].flatMap(index => [...boxes.subarray(4 * index, 4 * index + 4)]);
}

/** Largest difference; NaN where there is another number of them. */
function worst(ours: readonly number[], recorded: readonly number[]): number {
  if (ours.length !== recorded.length) return Number.NaN;
  return Math.max(...recorded.map((value, index) => Math.abs(value - (ours[index] ?? Number.NaN))));
}
