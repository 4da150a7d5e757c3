/** Extraction of parts from whole detectors that differ from torchvision's export: exported parts joined by a small host graph. */

import { extractParts } from '../../../../../src/detection/families/maskrcnn/cut/extract-parts.js';
import { exportMaskRcnn } from '../../../../../src/detection/families/maskrcnn/export/export-maskrcnn.js';
import type { MaskRcnnSpec } from '../../../../../src/detection/families/maskrcnn/export/network-spec.js';
import { float, getInt, int, string } from '../../../../../src/onnx/ir/attribute.js';
import { addInitializer, addInput, addNode, findValueByName, getValue, replaceAllUses } from '../../../../../src/onnx/ir/edit.js';
import type { Attribute, Model, ValueId } from '../../../../../src/onnx/ir/model.js';
import { sortTopologically } from '../../../../../src/onnx/ir/sort.js';
import { extractSubgraph } from '../../../../../src/onnx/surgery/extract.js';
import { decodeRawTensor, encodeRawTensor } from '../../../../../src/tensor/raw-tensor.js';
import { makeTensor, type Tensor } from '../../../../../src/tensor/tensor.js';
import { failureOf } from '../../../../support/error-code.js';
import { generatedInput } from '../../../../support/generated-weights.js';
import { listProblems, operators, runModel } from '../../../../support/look-at-model.js';
import { floats } from '../../../../support/small-model.js';
import { TINY_CONFIG, TINY_V1, TINY_V2, tinyState } from '../../../../support/tiny-maskrcnn.js';

const PARTS = ['backbone', 'box_head', 'mask_head'] as const;

function exportTiny(network: MaskRcnnSpec) {
  return exportMaskRcnn(tinyState(network), TINY_CONFIG, {
    height: 64,
    width: 96,
    roiBatch: { box: 'free', mask: 'free' },
    fit: 'static',
    frozenEpsilon: network.bodyNorm === 'frozen' ? 0 : undefined,
  });
}

/** The parts in one connected graph: the image is halved before, RoIs and the maps they belong to are inputs, and what each level pools is concatenated. */
function makeWhole(network: MaskRcnnSpec): Model {
  const { model } = exportTiny(network);
  const { graph } = model;
  const find = (name: string): ValueId => findValueByName(graph, name)?.id ?? (0 as ValueId);
  const add = (opType: string, inputs: readonly ValueId[], output: string, attributes: Record<string, Attribute> = {}): ValueId =>
    addNode(model, graph, { opType, inputs, outputs: [output], attributes }).outputs[0] ?? (0 as ValueId);
  const half = addInitializer(model, graph, 'half', floats([], [0.5])).id;
  const features = [0, 1, 2, 3].map(level => find(`feature_${level}`));
  const joined: [string, string, number][] = [
    ['box_features', 'boxes', 7],
    ['mask_features', 'masks', 14],
  ];
  for (const [input, side, size] of joined) {
    const rois = addInput(model, graph, `${side}_rois_in`, { kind: 'tensor', dtype: 'float32', dims: [`${side}_count`, 4] }).id;
    const maps = addInput(model, graph, `${side}_maps_in`, { kind: 'tensor', dtype: 'int64', dims: [`${side}_count`] }).id;
    const pooled = features.map((feature, level) =>
      add('RoiAlign', [feature, rois, maps], `${side}_${level}`, {
        output_height: int(size),
        output_width: int(size),
        sampling_ratio: int(2),
        spatial_scale: float(1 / (4 * 2 ** level)),
        coordinate_transformation_mode: string('output_half_pixel'),
      }),
    );
    replaceInput(model, find(input), add('Concat', pooled, `${side}_pooled`, { axis: int(0) }));
  }
  const image = find('image');
  const raw = addInput(model, graph, 'photograph', { kind: 'tensor', dtype: 'float32', dims: [1, 3, 64, 96] }).id;
  replaceInput(model, image, add('Mul', [raw, half], 'normalised'));
  for (const id of graph.outputs) getValue(graph, id).name = `out_${getValue(graph, id).name}`;
  sortTopologically(graph);
  expect(listProblems(model)).toEqual([]);
  return model;
}

/** The nodes that read a graph input read `value` instead. */
function replaceInput({ graph }: Model, input: ValueId, value: ValueId): void {
  replaceAllUses(graph, input, value);
  graph.inputs = graph.inputs.filter(id => id !== input);
  graph.values.delete(input);
}

/** Each Gemm as MatMul and Add, with its weight turned round, as other tools write it. */
function gemmsAsMatMuls(model: Model): void {
  const { graph } = model;
  for (const node of [...graph.nodes.values()].filter(({ opType }) => opType === 'Gemm')) {
    const [x, weight, bias] = node.inputs;
    const constant = weight === undefined ? undefined : getValue(graph, weight).constant;
    if (constant?.dtype !== 'float32' || bias === undefined || getInt(node, 'transB', 0) !== 1)
      throw new Error('another Gemm than expected');
    const [rows = 0, columns = 0] = constant.dims;
    const { data } = decodeRawTensor({ ...constant, dtype: 'float32' });
    const turned = Float32Array.from({ length: rows * columns }, (_, i) => data[(i % rows) * columns + Math.floor(i / rows)] ?? 0);
    const turnedWeight = addInitializer(
      model,
      graph,
      `${node.name}_turned`,
      encodeRawTensor(makeTensor('float32', [columns, rows], turned)),
    ).id;
    const product = addNode(model, graph, { opType: 'MatMul', inputs: [x, turnedWeight], outputs: [`${node.name}_product`] });
    node.opType = 'Add';
    node.attributes.clear();
    node.inputs = [product.outputs[0], bias];
  }
  sortTopologically(graph);
}

const FEEDS: Readonly<Record<string, Tensor>> = {
  image: generatedInput('image', [1, 3, 64, 96]),
  box_features: generatedInput('box_features', [5, 6, 7, 7]),
  mask_features: generatedInput('mask_features', [2, 6, 14, 14]),
};

const feedOf = (model: Model): Record<string, Tensor> =>
  Object.fromEntries(model.graph.inputs.map(id => [getValue(model.graph, id).name, FEEDS[getValue(model.graph, id).name] as Tensor]));

describe('extractParts', () => {
  it.each([
    ['maskrcnn_resnet50_fpn_v2', TINY_V2],
    ['maskrcnn_resnet50_fpn, whose box head begins with a flattening', TINY_V1],
  ])('takes the parts out of a whole %s, bit for bit', async (_, network) => {
    const { model, recipe } = exportTiny(network);
    const whole = makeWhole(network);
    const taken = extractParts(whole, TINY_CONFIG, 'static');
    expect(taken.recipe).toEqual(recipe);
    for (const part of PARTS) {
      const wanted = extractSubgraph(model, recipe.parts[part]);
      expect(operators(taken.parts[part])).toEqual(operators(wanted));
      expect(await runModel(taken.parts[part], feedOf(wanted))).toEqual(await runModel(wanted, feedOf(wanted)));
    }
    const names = Object.fromEntries([...taken.places].map(([name, id]) => [name, getValue(whole.graph, id).name]));
    expect(names).toMatchObject({ image: 'normalised', box_features: 'boxes_pooled', class_logits: 'out_class_logits' });
  });

  it('accepts fully connected layers made of MatMul and Add', async () => {
    const whole = makeWhole(TINY_V2);
    gemmsAsMatMuls(whole);
    const { parts } = extractParts(whole, TINY_CONFIG, 'static');
    expect(operators(parts.box_head)).toEqual(expect.arrayContaining(['MatMul', 'Add']));
    const { model, recipe } = exportTiny(TINY_V2);
    const [own, wanted] = [parts.box_head, extractSubgraph(model, recipe.parts.box_head)];
    const [outputs, recorded] = [await runModel(own, feedOf(own)), await runModel(wanted, feedOf(wanted))];
    for (const name of ['class_logits', 'box_regression']) {
      const [a, b] = [outputs[name]?.data as Float32Array, recorded[name]?.data as Float32Array];
      // The bias is added after the sum here, and begins it there.
      for (const [index, value] of b.entries()) expect(a[index]).toBeCloseTo(value, 5);
    }
  });

  it('states the requested fit policy', () => {
    expect(extractParts(makeWhole(TINY_V2), TINY_CONFIG, 'torchvision').recipe.image.fit).toBe('torchvision');
  });

  it('refuses a whole with one head, and heads that pool from different maps', async () => {
    const { graph, ...rest } = makeWhole(TINY_V2);
    const oneHead = extractSubgraph(
      { graph, ...rest },
      { inputs: ['photograph', 'boxes_rois_in', 'boxes_maps_in'], outputs: ['out_class_logits', 'out_box_regression'] },
    );
    expect((await failureOf(() => extractParts(oneHead, TINY_CONFIG, 'static'))).message).toContain(
      'two heads after RoiAlign nodes, one for boxes and one for masks, found 1',
    );

    const crossed = makeWhole(TINY_V2);
    const aligns = [...crossed.graph.nodes.values()].filter(node => node.opType === 'RoiAlign');
    const [first, second] = aligns;
    if (first !== undefined && second !== undefined) [first.inputs[0], second.inputs[0]] = [second.inputs[0], first.inputs[0]];
    expect((await failureOf(() => extractParts(crossed, TINY_CONFIG, 'static'))).message).toContain(
      'both heads to pool from the same maps',
    );
  });
});
