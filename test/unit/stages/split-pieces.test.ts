/** The parts and CPU subgraphs of torchvision's own export, run in order, give the results of the whole model. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefined } from '../../../src/base/invariant.js';
import type { PartValuesByName } from '../../../src/detection/detector/part-runner.js';
import { runnerOfTiles } from '../../../src/detection/detector/run-tiles.js';
import { extractCpuSubgraphs } from '../../../src/detection/families/maskrcnn/cut/extract-cpu-subgraphs.js';
import { extractParts } from '../../../src/detection/families/maskrcnn/cut/extract-parts.js';
import { decodeImage, type RgbImage } from '../../../src/detection/image/decode-image.js';
import { fitImage } from '../../../src/detection/image/fit-image.js';
import { readDefinition } from '../../../src/detection/read-definition.js';
import { cloneModel } from '../../../src/onnx/ir/clone.js';
import { addNode } from '../../../src/onnx/ir/edit.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { readModel } from '../../../src/onnx/serde/model-file.js';
import { cutAtFlatten } from '../../../src/onnx/tiles/cut-at-flatten.js';
import { tileRois } from '../../../src/onnx/tiles/tile-rois.js';
import { openSession, type Session } from '../../../src/runtime/session/session.js';
import { readJsonFile } from '../../../src/stage/json-file.js';
import { makeTensor, type Tensor } from '../../../src/tensor/tensor.js';
import { importStage } from '../../../stages/import/stage.js';
import { split } from '../../../stages/split/stage.js';
import { failureOf } from '../../support/error-code.js';
import { outputPorts, parseParams, runStage, type StageRun, temporaryFolder } from '../../support/run-stage.js';
import { readShapesConfig, SHAPES_FOLDER } from '../../support/shapes.js';

const PIECES = ['backbone', 'to_box', 'box_head', 'to_mask', 'mask_head', 'rest'] as const;
const PARAMS = { recipe: 'maskrcnn', cuts: 'structure', between: 'models' } as const;
const EXPORTED = join(SHAPES_FOLDER, 'models/maskrcnn-shapes-torchvision.onnx');

type Tensors = Readonly<Record<string, Tensor>>;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let imported: string;
let taken: StageRun;
let whole: Session;
let pieces: readonly Session[];
beforeAll(async () => {
  folder = await temporaryFolder('split-pieces');
  imported =
    (await runStage(importStage, { params: { samples: 0 }, inputs: { model: EXPORTED }, folder: folder.path })).outputs.model ?? '';
  const config = join(SHAPES_FOLDER, 'models/maskrcnn-shapes.json');
  taken = await runStage(split, { params: PARAMS, inputs: { model: imported, config }, folder: folder.path });
  whole = await openSession(EXPORTED, { optimization: 'basic' });
  pieces = await Promise.all(PIECES.map(piece => openSession(taken.outputs[piece] ?? '', { optimization: 'basic' })));
});
afterAll(async () => {
  for (const session of [whole, ...pieces]) await session.close();
  await folder.remove();
});

type RunTiles = ReturnType<typeof runnerOfTiles>;

const openBytes = async (model: Model): Promise<Session> => openSession(encodeModel(model), { optimization: 'basic' });

/** Each piece reads what those before it gave. `tiles`: heads that run on tiles instead. */
async function runChain(image: Tensor, tiles: ReadonlyMap<string, RunTiles> = new Map()): Promise<Tensors> {
  let known: Tensors = { image };
  for (const [index, piece] of pieces.entries()) {
    const onTiles = tiles.get(PIECES[index] ?? '');
    if (onTiles !== undefined) {
      known = { ...known, ...(await onTiles(known as PartValuesByName)) };
      continue;
    }
    const feeds = piece.inputNames.map((name): [string, Tensor] => [name, known[name] as Tensor]);
    expect(feeds.filter(([, tensor]) => tensor === undefined)).toEqual([]);
    known = { ...known, ...(await piece.run(Object.fromEntries(feeds))) };
  }
  return known;
}

/** What torchvision's model takes: R, G, B planes of 0…1. */
function toPhoto({ width, height, data }: RgbImage): Tensor {
  const area = width * height;
  return makeTensor(
    'float32',
    [3, height, width],
    Float32Array.from({ length: 3 * area }, (_, index) => (data[3 * (index % area) + Math.trunc(index / area)] ?? 0) / 255),
  );
}

async function readImage(name: string): Promise<RgbImage> {
  if (name === 'black') return { width: 256, height: 192, data: new Uint8Array(3 * 256 * 192) };
  return decodeImage(await readFile(join(SHAPES_FOLDER, 'data/val', name)), name);
}

const firstImages = async (count: number): Promise<readonly string[]> => {
  const { images } = (await readJsonFile(join(SHAPES_FOLDER, 'data/instances_val.json'))) as { images: readonly { file_name: string }[] };
  return images.slice(0, count).map(({ file_name }) => file_name);
};

const numbersOf = (tensor: Tensor | undefined): readonly number[] => Array.from((tensor?.data ?? []) as ArrayLike<number | bigint>, Number);
const worstOf = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((worst, value, index) => Math.max(worst, Math.abs(value - (b[index] ?? Number.NaN))), 0);

describe("the six models of torchvision's export", () => {
  it('run in order, give the detections of the whole model for an image that the host prepared', async () => {
    const config = await readShapesConfig();
    const fit = { kind: 'static', height: 192, width: 256 } as const;
    let objects = 0;
    for (const name of [...(await firstImages(3)), 'black']) {
      const image = await readImage(name);
      const wanted = await whole.run({ [whole.inputNames[0] ?? '']: toPhoto(image) });
      const found = await runChain(fitImage(image, fit, config.input).tensor);
      for (const output of whole.outputNames) {
        expect([output, found[output]?.dims]).toEqual([output, wanted[output]?.dims]);
        // Float32 sums in another order: scores and masks of 0…1 by some 1e-6, boxes of some 200 pixels by some 1e-4.
        expect(worstOf(numbersOf(wanted[output]), numbersOf(found[output]))).toBeLessThan(output === 'boxes' ? 2e-3 : 2e-5);
      }
      objects += wanted.scores?.dims[0] ?? 0;
    }
    expect(whole.outputNames).toEqual(['boxes', 'labels', 'scores', 'masks']);
    expect(objects).toBeGreaterThan(20);
  });

  it('take heads on tiles, one of them as two models, in the place of their own', async () => {
    const { parts } = readDefinition({ recipe: await readJsonFile(taken.outputs.recipe ?? '') });
    const options = { grid: [4, 5], mask: 'full', strides: 'any' } as const;
    const cut = getDefined(cutAtFlatten(await readModel(taken.outputs.box_head ?? '')), 'a cut head');
    const tiled = {
      box_head: [tileRois(cut.map, options), tileRois(cut.rows, options)],
      mask_head: [tileRois(await readModel(taken.outputs.mask_head ?? ''), options)],
    };
    const runners = new Map<string, RunTiles>();
    const opened: Session[] = [];
    for (const [name, models] of Object.entries(tiled)) {
      const part = getDefined(
        parts.find(one => one.name === name),
        name,
      );
      if (part.rois === 'none') throw new Error(`${name} runs once per image`);
      const sessions: Record<string, Session> = {};
      for (const [index, { model }] of models.entries()) {
        const session = await openBytes(model);
        sessions[index] = session;
        opened.push(session);
      }
      const steps = models.map(({ inputs, outputs }, index) => ({ model: String(index), grid: options.grid, inputs, outputs }));
      runners.set(name, runnerOfTiles(sessions, part, { steps }));
    }
    const { input } = await readShapesConfig();
    const image = fitImage(await readImage((await firstImages(3))[2] ?? ''), { kind: 'static', height: 192, width: 256 }, input).tensor;
    const [plain, onTiles] = [await runChain(image), await runChain(image, runners)];
    for (const session of opened) await session.close();
    expect(plain.scores?.dims[0]).toBeGreaterThan(20);
    // Both chains find the same objects; the sums of the box head are in another order.
    for (const name of ['boxes', 'labels', 'scores', 'masks']) {
      expect([name, onTiles[name]?.dims]).toEqual([name, plain[name]?.dims]);
      expect(worstOf(numbersOf(plain[name]), numbersOf(onTiles[name]))).toBeLessThan(name === 'boxes' ? 2e-3 : 2e-5);
    }
  });

  it('are three models with convolutions and three without', async () => {
    const convolutions = await Promise.all(
      PIECES.map(async piece => {
        const { graph } = await readModel(taken.outputs[piece] ?? '');
        return [...graph.nodes.values()].some(({ opType }) => opType === 'Conv' || opType === 'Gemm');
      }),
    );
    expect(convolutions).toEqual([true, false, true, false, true, false]);
  });

  it('omit only preprocessing, and are reported in the order in which they run', async () => {
    const report = (await readJsonFile(taken.outputs.report ?? '')) as {
      parts: Record<string, { inputs: readonly string[]; outputs: readonly string[] }>;
      inNoPart: readonly string[];
    };
    expect(Object.keys(report.parts)).toEqual(PIECES);
    expect(report.parts.rest?.outputs).toEqual(expect.arrayContaining(['boxes', 'labels', 'scores', 'masks']));
    expect(report.parts.to_box?.outputs).toContain('box_features');
    expect(report.inNoPart.length).toBeLessThan(12);
  });

  it('reject a whole model whose later nodes read the image again', async () => {
    const model = cloneModel(await readModel(imported));
    const { recipe, places } = extractParts(model, await readShapesConfig(), 'static');
    const [photo] = model.graph.inputs;
    const [boxes] = model.graph.outputs;
    const added = addNode(model, model.graph, { opType: 'CastLike', inputs: [boxes, photo], outputs: ['like_the_photo'] }).outputs[0];
    if (added !== undefined) model.graph.outputs.push(added);
    const failure = await failureOf(() => extractCpuSubgraphs(model, recipe, places));
    expect(failure.code).toBe('maskrcnn-structure');
    expect(failure.message).toContain('CastLike of "like_the_photo" reads the model\'s input');
  });

  it('have the ports of `between: models` under its former name `pieces`', () => {
    const former = outputPorts(split, parseParams(split, { ...PARAMS, between: 'pieces' }));
    expect(former).toEqual(outputPorts(split, parseParams(split, PARAMS)));
  });

  it('have one port each with `cuts: structure`', () => {
    expect(Object.keys(outputPorts(split, parseParams(split, PARAMS)))).toEqual([...PIECES, 'recipe', 'report']);
    expect(() => parseParams(split, { recipe: 'maskrcnn', between: 'models' })).toThrow('`between` needs `cuts: structure`');
  });
});
