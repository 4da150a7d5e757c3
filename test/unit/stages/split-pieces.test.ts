/** The parts and CPU subgraphs of torchvision's own export, run in order, give the results of the whole model. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { extractCpuSubgraphs } from '../../../src/detection/families/maskrcnn/cut/extract-cpu-subgraphs.js';
import { extractParts } from '../../../src/detection/families/maskrcnn/cut/extract-parts.js';
import { decodeImage, type RgbImage } from '../../../src/detection/image/decode-image.js';
import { fitImage } from '../../../src/detection/image/fit-image.js';
import { cloneModel } from '../../../src/onnx/ir/clone.js';
import { addNode } from '../../../src/onnx/ir/edit.js';
import { readModel } from '../../../src/onnx/serde/model-file.js';
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

/** Each piece reads what those before it gave. */
async function runChain(image: Tensor): Promise<Tensors> {
  let known: Tensors = { image };
  for (const piece of pieces) {
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
