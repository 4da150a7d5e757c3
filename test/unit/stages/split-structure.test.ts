/** torchvision's own export of the whole detector against the parts that we export from the checkpoint of the same network. */

import { join } from 'node:path';
import type { Json, JsonObject } from '../../../src/base/json.js';
import { type ExtractedParts, extractParts } from '../../../src/detection/families/maskrcnn/cut/extract-parts.js';
import { float, string } from '../../../src/onnx/ir/attribute.js';
import { cloneModel } from '../../../src/onnx/ir/clone.js';
import { getValue, removeNode } from '../../../src/onnx/ir/edit.js';
import type { Model, Node } from '../../../src/onnx/ir/model.js';
import { readModel, writeModel } from '../../../src/onnx/serde/model-file.js';
import { formatDims } from '../../../src/onnx/shape-inference/context/node-context.js';
import { openSession } from '../../../src/runtime/session/session.js';
import { readJsonFile } from '../../../src/stage/json-file.js';
import type { Tensor } from '../../../src/tensor/tensor.js';
import { evaluate } from '../../../stages/evaluate/stage.js';
import { importStage } from '../../../stages/import/stage.js';
import { SPLIT_REPORT_SCHEMA } from '../../../stages/split/report.js';
import { split } from '../../../stages/split/stage.js';
import { PART_OUTPUTS, relativeError } from '../../support/detector-parts.js';
import { failureOf } from '../../support/error-code.js';
import { generatedInput } from '../../support/generated-weights.js';
import { readAs } from '../../support/read-as.js';
import { givenFolder, outputPorts, parseParams, runStage, type StageRun } from '../../support/run-stage.js';
import { readShapesConfig, SHAPES_FOLDER } from '../../support/shapes.js';
import { type ShapesFiles, writeShapes } from '../../support/shapes-files.js';

const PARTS = ['backbone', 'box_head', 'mask_head'] as const;

const folder = givenFolder('split-structure');
let ours: ShapesFiles;
let imported: string;
let taken: StageRun;
beforeAll(async () => {
  ours = await writeShapes(folder.path);
  const model = join(SHAPES_FOLDER, 'models/maskrcnn-shapes-torchvision.onnx');
  imported = (await runStage(importStage, { params: {}, inputs: { model }, folder: folder.path })).outputs.model ?? '';
  const inputs = { model: imported, config: ours.config };
  taken = await runStage(split, { params: { recipe: 'maskrcnn', cuts: 'structure' }, inputs, folder: folder.path });
});

const FEEDS: Readonly<Record<string, Tensor>> = {
  image: generatedInput('image', [1, 3, 192, 256]),
  box_features: generatedInput('box_features', [7, 32, 7, 7], 2),
  mask_features: generatedInput('mask_features', [3, 32, 14, 14], 2),
};

async function runPart(path: string | undefined): Promise<Readonly<Record<string, Tensor>>> {
  const session = await openSession(path ?? '', { optimization: 'all' });
  const results = await session.run(Object.fromEntries(session.inputNames.map(name => [name, FEEDS[name] as Tensor])));
  await session.close();
  return results;
}

const ends = ({ graph }: Model, side: 'inputs' | 'outputs'): string[] =>
  graph[side].map(id => {
    const { name, type } = getValue(graph, id);
    return `${name} ${type?.kind === 'tensor' ? `${type.dtype} ${formatDims(type.dims)}` : '?'}`;
  });

describe("the parts of torchvision's export", () => {
  it.each(PARTS)('%s has the names, types and static shapes of ours', async part => {
    const [model, wanted] = [await readModel(taken.outputs[part] ?? ''), await readModel(ours.parts[part])];
    expect(ends(model, 'inputs')).toEqual(ends(wanted, 'inputs'));
    expect(ends(model, 'outputs')).toEqual(ends(wanted, 'outputs'));
    expect([...model.graph.nodes.values()].map(node => node.opType)).not.toEqual(
      expect.arrayContaining(['If', 'Loop', 'RoiAlign', 'Shape']),
    );
  });

  it('gives the results of our parts, within 1e-4 of the standard deviation', async () => {
    // Batch norms are folded there by torch, and computed here: float32 sums in another order.
    const compared: string[] = [];
    for (const part of PARTS) {
      const [theirs, wanted] = [await runPart(taken.outputs[part]), await runPart(ours.parts[part])];
      for (const [name, tensor] of Object.entries(wanted)) {
        expect([name, theirs[name]?.dims]).toEqual([name, tensor.dims]);
        expect(relativeError(tensor.data as Float32Array, theirs[name]?.data as Float32Array)).toBeLessThan(1e-4);
        compared.push(name);
      }
    }
    expect([...compared].sort()).toEqual([...PART_OUTPUTS].sort());
  });

  it('has the recipe that export writes', async () => {
    expect(await readJsonFile(taken.outputs.recipe ?? '')).toEqual(await readJsonFile(ours.recipe));
  });

  it('lists the original name of each value in the report', async () => {
    const report = await readAs(SPLIT_REPORT_SCHEMA, taken.outputs.report);
    expect(Object.keys(report.found ?? {}).sort()).toEqual([...PART_OUTPUTS, 'image', 'box_features', 'mask_features'].sort());
    expect(report.parts.mask_head).toMatchObject({ inputs: ['mask_features'], outputs: ['mask_logits'], nodes: 11 });
    expect(taken.log.join()).toContain('nodes are in no part');
  });

  it('finds the same objects', async () => {
    interface Found {
      readonly image_id: number;
      readonly category_id: number;
      readonly score: number;
      readonly bbox: readonly number[];
    }
    const detect = async (parts: Record<string, string>, recipe: string): Promise<readonly Found[]> => {
      const inputs = { parts, recipe, config: ours.config, data: ours.val };
      const { outputs } = await runStage(evaluate, { params: { samples: 4 }, inputs, folder: folder.path });
      return (await readJsonFile(outputs.detections ?? '')) as unknown as readonly Found[];
    };
    const wanted = await detect(ours.parts, ours.recipe);
    const found = await detect(Object.fromEntries(PARTS.map(part => [part, taken.outputs[part] ?? ''])), taken.outputs.recipe ?? '');
    expect(wanted.length).toBeGreaterThan(20);
    expect(found.length).toBe(wanted.length);
    for (const object of wanted) {
      const same = found.filter(
        other =>
          other.image_id === object.image_id &&
          other.category_id === object.category_id &&
          Math.abs(other.score - object.score) < 1e-4 &&
          other.bbox.every((side, index) => Math.abs(side - (object.bbox[index] ?? 0)) < 0.01),
      );
      expect(same.length).toBe(1);
    }
  });
});

describe('split by structure', () => {
  let whole: Model;
  beforeAll(async () => {
    whole = await readModel(imported);
  });

  /** Takes the parts of the imported model after `change`. */
  async function takeChanged(change: (model: Model) => void): Promise<ExtractedParts> {
    const model = cloneModel(whole);
    change(model);
    return extractParts(model, await readShapesConfig(), 'static');
  }

  const all = (model: Model, opType: string): Node[] => [...model.graph.nodes.values()].filter(node => node.opType === opType);
  const first = (model: Model, opType: string): Node => {
    const [node] = all(model, opType);
    if (node === undefined) throw new Error(`no ${opType}`);
    return node;
  };

  it('does not look at names', async () => {
    const { parts } = await takeChanged(({ graph }) => {
      for (const [index, value] of [...graph.values.values()].entries()) value.name = `v${index}`;
      for (const node of graph.nodes.values()) node.name = '';
    });
    const path = join(folder.path, 'nameless.onnx');
    await writeModel(path, parts.box_head);
    expect(await runPart(path)).toEqual(await runPart(taken.outputs.box_head));
  });

  it('renames other values that have a name of the recipe', async () => {
    const { parts } = await takeChanged(({ graph }) => {
      for (const value of graph.values.values()) if (value.name.endsWith('layer1.0/conv1/Conv_output_0')) value.name = 'feature_0';
    });
    const names = [...parts.backbone.graph.values.values()].map(value => value.name);
    expect(names.filter(name => name === 'feature_0')).toHaveLength(1);
    expect(names).toContain('feature_0_inner');
  });

  it.each<[string, (model: Model) => void, string]>([
    [
      'there is no RoiAlign',
      ({ graph }) => {
        for (const node of all({ graph } as Model, 'RoiAlign')) node.opType = 'MaxRoiPool';
      },
      'RoiAlign nodes, found none',
    ],
    ['a scale is wrong', model => void first(model, 'RoiAlign').attributes.set('spatial_scale', float(0.2)), 'has spatial_scale'],
    [
      'the coordinate transformation differs',
      model => void first(model, 'RoiAlign').attributes.set('coordinate_transformation_mode', string('half_pixel')),
      'has coordinate_transformation_mode half_pixel, expected output_half_pixel',
    ],
    ['it pools the maximum', model => void first(model, 'RoiAlign').attributes.set('mode', string('max')), 'has mode max, expected avg'],
    [
      'levels pool to different sizes',
      model => void first(model, 'RoiAlign').attributes.delete('sampling_ratio'),
      'equal size and sampling ratio for all levels',
    ],
    [
      'an RPN output is missing',
      model => {
        const { graph } = model;
        const name = '/m/rpn/head/bbox_pred_2/Conv';
        const node = [...graph.nodes.values()].find(other => other.name === name);
        if (node === undefined) throw new Error(name);
        removeNode(graph, node.id);
        const output = node.outputs[0];
        if (output !== undefined) getValue(graph, output).type = { kind: 'tensor', dtype: 'float32', dims: [1, 12, 12, 16] };
        if (output !== undefined) graph.inputs.push(output);
      },
      'two parallel RPN outputs',
    ],
  ])('the error says what was expected where %s', async (_, change, message) => {
    const failure = await failureOf(() => takeChanged(change));
    expect(failure.code).toBe('maskrcnn-structure');
    expect(failure.message).toContain(message);
  });

  it('requires static shapes if preprocessing was not folded', async () => {
    const model = join(SHAPES_FOLDER, 'models/maskrcnn-shapes-torchvision.onnx');
    const inputs = { model, config: ours.config };
    const failure = await failureOf(() =>
      runStage(split, { params: { recipe: 'maskrcnn', cuts: 'structure' }, inputs, folder: folder.path }),
    );
    expect(failure.code).toBe('maskrcnn-structure');
    expect(failure.message).toMatch(/a map of static size|one image \[1, 3, height, width\]/);
  });

  it('refuses a config of another network', async () => {
    const config = (await readJsonFile(ours.config)) as Record<string, Json>;
    const other = { ...config, numClasses: 91, box: { ...(config.box as JsonObject), samplingRatio: 4 } };
    const failure = await failureOf(() => extractParts(whole, other as never, 'static'));
    expect(failure.code).toBe('config-mismatch');
    expect(failure.message).toContain('numClasses is 91, the model has 12; box.samplingRatio is 4, the model has 2');
  });

  it('has the ports that its params say', () => {
    const params = parseParams(split, { recipe: 'maskrcnn', cuts: 'structure' });
    expect(Object.keys(outputPorts(split, params))).toEqual([...PARTS, 'recipe', 'report']);
    expect(Object.keys(outputPorts(split, parseParams(split, { recipe: 'maskrcnn' })))).toEqual([...PARTS, 'report']);
    expect(() => parseParams(split, { cuts: 'structure', parts: { a: { inputs: ['x'], outputs: ['y'] } } })).toThrow(
      '`cuts: structure` needs `recipe`',
    );
    expect(() => parseParams(split, { recipe: 'maskrcnn', fit: 'static' })).toThrow('`fit` needs `cuts: structure`');
  });
});
