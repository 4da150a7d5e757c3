/** A detector whose int8 heads run on tiles: the same detections, byte for byte, in far fewer calls; and recipes with tiles that do not fit. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefined } from '../../../../src/base/invariant.js';
import type { Json, JsonObject } from '../../../../src/base/json.js';
import type { Detector } from '../../../../src/detection/detector/detector.js';
import { decodeImage } from '../../../../src/detection/image/decode-image.js';
import { openDetector } from '../../../../src/detection/open-detector.js';
import { readDefinition } from '../../../../src/detection/read-definition.js';
import type { TilesByPart } from '../../../../src/detection/tiles/part-tiles.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { extractSubgraph } from '../../../../src/onnx/surgery/extract.js';
import { tileRois } from '../../../../src/onnx/tiles/tile-rois.js';
import { PRESETS } from '../../../../src/quant/scheme/scheme.js';
import { type OpenModel, openSession } from '../../../../src/runtime/session/session.js';
import { failureOf } from '../../../support/error-code.js';
import { quantizeOn } from '../../../support/quantize-small.js';
import { exportShapes, SHAPES_FOLDER } from '../../../support/shapes.js';

const GRID = [4, 4] as const;

const prepared = prepare();

/** The trained detector with int8 heads, quantized on the RoIs of one image; and the same heads on tiles. */
async function prepare() {
  const { model, recipe } = await exportShapes();
  const backbone = encodeModel(extractSubgraph(model, recipe.parts.backbone));
  const heads = { box_head: extractSubgraph(model, recipe.parts.box_head), mask_head: extractSubgraph(model, recipe.parts.mask_head) };
  const image = await decodeImage(await readFile(join(SHAPES_FOLDER, 'data/val', '000000001000.jpg')), 'image');
  const float = await open(recipe, {
    backbone,
    box_head: encodeModel(heads.box_head),
    mask_head: encodeModel(heads.mask_head),
  });
  const { inputs } = await float.trace(image);
  await float.close();
  const box = await quantizeOn(heads.box_head, getDefined(inputs.box_head, 'box_head'), PRESETS.xint8);
  const mask = await quantizeOn(heads.mask_head, getDefined(inputs.mask_head, 'mask_head'), PRESETS.xint8);
  const [tiledBox, tiledMask] = [box, mask].map(head => tileRois(head, { grid: GRID, mask: 'full', strides: 'any' }));
  const step = (part: string, { inputs, outputs }: NonNullable<typeof tiledBox>) => ({
    steps: [{ model: part, grid: GRID, inputs, outputs }],
  });
  const [ownBox, ownMask] = [getDefined(tiledBox, 'box'), getDefined(tiledMask, 'mask')];
  const tiles: TilesByPart = { box_head: step('box_head', ownBox), mask_head: step('mask_head', ownMask) };
  return {
    image,
    recipe: recipe,
    tiles,
    alone: { backbone, box_head: encodeModel(box), mask_head: encodeModel(mask) },
    tiled: { backbone, box_head: encodeModel(ownBox.model), mask_head: encodeModel(ownMask.model) },
  };
}

function open(recipe: Json, parts: Readonly<Record<string, Uint8Array>>, openModel: OpenModel = openSession): Promise<Detector> {
  return openDetector({ definition: readDefinition({ recipe }), models: { kind: 'parts', parts } }, { optimization: 'all', openModel });
}

const withTiles = (recipe: JsonObject, tiles: unknown): JsonObject => ({ ...recipe, tiles: tiles as Json });

describe('the int8 detector on tiles', () => {
  it('has the detections of the untiled one byte for byte, with at most 13 calls of the box head per 200 proposals', async () => {
    const { image, recipe, tiles, alone, tiled } = await prepared;
    const calls: number[] = [];
    const counting: OpenModel = async (model, options) => {
      const session = await openSession(model, options);
      const own = calls.push(0) - 1;
      return {
        ...session,
        run: (feeds, fetches) => {
          calls[own] = (calls[own] ?? 0) + 1;
          return session.run(feeds, fetches);
        },
      };
    };
    const one = await open(recipe, alone);
    const many = await open(withTiles(recipe, tiles), tiled, counting);
    const [expected, found] = [await one.trace(image), await many.trace(image)];
    expect(expected.objects.labels.length).toBeGreaterThan(1);
    expect(found.objects).toEqual(expected.objects);
    expect(found.outputs).toEqual(expected.outputs);
    const [, boxCalls = 0] = calls;
    const proposals = getDefined(found.inputs.box_head?.box_features?.dims[0], 'proposals');
    expect(proposals).toBeGreaterThan(150);
    expect(boxCalls).toBe(Math.ceil(proposals / 16));
    expect(Math.ceil(200 / 16)).toBe(13);
    await one.close();
    await many.close();
  });

  it('runs no head without detections', async () => {
    const { recipe, tiles, tiled } = await prepared;
    const detector = await open(withTiles(recipe, tiles), tiled);
    const none = await detector.runPart('mask_head', {
      mask_features: { dtype: 'float32', dims: [0, 32, 14, 14], data: new Float32Array(0) },
    });
    expect(none.mask_logits?.dims[0]).toBe(0);
    await detector.close();
  });
});

describe('a recipe with tiles', () => {
  it('is refused if a part is unknown, a part runs once per image, or a field is missing', async () => {
    const { recipe, tiles } = await prepared;
    const read = (changed: unknown) => failureOf(() => readDefinition({ recipe: withTiles(recipe, changed) }));
    const { code, message } = await read({ head: tiles.box_head, backbone: tiles.box_head });
    expect(code).toBe('bad-recipe');
    expect(message).toBe('host recipe: tiles.head: is not a part of the recipe; tiles.backbone: runs once per image, not on RoIs');
    expect((await read({ box_head: { steps: [{ model: 'box_head', grid: [4], inputs: [], outputs: [] }] } })).message).toMatch(
      /tiles.box_head.steps\[0\].grid: should have 2 entries/,
    );
  });

  it('keeps its tiles in the definition that manifests hold', async () => {
    const { recipe, tiles } = await prepared;
    const { files } = readDefinition({ recipe: withTiles(recipe, tiles) });
    expect(readDefinition(files).tiles).toEqual(tiles);
  });

  it('is refused with tiles of another size than the rows of the part, and with one model for all parts', async () => {
    const { recipe, tiles, tiled } = await prepared;
    const [step] = tiles.box_head?.steps ?? [];
    const changed = { box_head: { steps: [{ ...step, inputs: step?.inputs.map(input => ({ ...input, channels: 3 })) }] } };
    const failure = await failureOf(() => open(withTiles(recipe, changed), tiled));
    expect(failure.code).toBe('part-values');
    expect(failure.message).toMatch(/the tiles of part box_head do not fit its values: "box_features" has 147 elements per tile, per RoI/);
    const whole = failureOf(() =>
      openDetector(
        { definition: readDefinition({ recipe: withTiles(recipe, tiles) }), models: { kind: 'whole', model: tiled.backbone } },
        { optimization: 'all' },
      ),
    );
    expect((await whole).message).toBe('the host recipe runs part box_head on tiles, but one model holds all parts');
  });
});
