/** Export of YOLACT checkpoints: outputs, names and weights; checkpoints that do not fit. */
import { DetectionError } from '../../../../../src/detection/error/detection-error.js';
import { exportYolact } from '../../../../../src/detection/families/yolact/export/export-yolact.js';
import { getValue } from '../../../../../src/onnx/ir/edit.js';
import type { RawTensor } from '../../../../../src/tensor/tensor.js';
import { errorOf } from '../../../../support/error-code.js';
import { generatedWeight } from '../../../../support/generated-weights.js';
import { shapesOf } from '../../../../support/shapes-of.js';
import { TINY_V2, tinyState } from '../../../../support/tiny-maskrcnn.js';
import { TINY_DARKNET, TINY_RESNET, TINY_YOLACT_CONFIG, tinyYolactState } from '../../../../support/tiny-yolact.js';

const SIZE = { height: 74, width: 74 };

const withTensors = (extra: Readonly<Record<string, RawTensor>>): Map<string, RawTensor> =>
  new Map([...tinyYolactState(TINY_RESNET), ...Object.entries(extra)]);

describe('exporting a YOLACT', () => {
  it('has separate outputs per level, before permute and concatenation, in the order of the recipe', () => {
    const result = exportYolact(tinyYolactState(TINY_RESNET), TINY_YOLACT_CONFIG, SIZE);
    const { graph } = result.model;
    expect(shapesOf(result, graph.inputs)).toEqual({ image: [1, 3, 74, 74] });
    expect(shapesOf(result, graph.outputs)).toEqual({
      bbox_0: [1, 12, 10, 10],
      bbox_1: [1, 12, 5, 5],
      bbox_2: [1, 12, 3, 3],
      bbox_3: [1, 12, 2, 2],
      bbox_4: [1, 12, 1, 1],
      conf_0: [1, 9, 10, 10],
      conf_1: [1, 9, 5, 5],
      conf_2: [1, 9, 3, 3],
      conf_3: [1, 9, 2, 2],
      conf_4: [1, 9, 1, 1],
      mask_0: [1, 15, 10, 10],
      mask_1: [1, 15, 5, 5],
      mask_2: [1, 15, 3, 3],
      mask_3: [1, 15, 2, 2],
      mask_4: [1, 15, 1, 1],
      proto_raw: [1, 5, 20, 20],
    });
    expect(result.recipe.parts.network.outputs).toEqual(graph.outputs.map(id => getValue(graph, id).name));
  });

  it.each([
    ['a ResNet', TINY_RESNET],
    ['a Darknet', TINY_DARKNET],
    ['a head per level', { ...TINY_RESNET, heads: [3, 4, 5, 6, 7].map(n => ({ ...TINY_RESNET.heads[0], features: [n, 6] })) }],
    ['pooled levels', { ...TINY_RESNET, pyramid: { ...TINY_RESNET.pyramid, downsampling: 'pool' } }],
  ] as [
    string,
    typeof TINY_RESNET,
  ][])('reads the layers and widths of %s from the checkpoint, and copies every tensor unchanged', (_, network) => {
    const state = tinyYolactState(network);
    const result = exportYolact(state, TINY_YOLACT_CONFIG, SIZE);
    expect(result.network).toEqual(network);
    expect(result.ignored).toEqual([]);
    const constants = new Map([...result.model.graph.values.values()].map(value => [value.name, value.constant]));
    for (const [key, tensor] of state) if (!key.endsWith('num_batches_tracked')) expect(constants.get(key)).toBe(tensor);
  });

  it('names nodes after modules, and shares the head over the levels', () => {
    const { model } = exportYolact(tinyYolactState(TINY_RESNET), TINY_YOLACT_CONFIG, SIZE);
    const nodes = [...model.graph.nodes.values()];
    const names = nodes.map(node => node.name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of ['backbone/layers/0/0/conv1', 'fpn/lat_layers/2', 'proto_net/2', 'prediction_layers/0/level_4/upfeature/0'])
      expect(names).toContain(name);
    const heads = nodes.filter(node => node.name.endsWith('/bbox_layer'));
    expect(heads).toHaveLength(5);
    expect(new Set(heads.map(node => node.inputs[1])).size).toBe(1);
  });

  it('ignores the tensors that the original deletes at loading, and those of training only', () => {
    const extra = {
      'backbone.layer1.0.conv1.weight': generatedWeight('a', [2, 4, 1, 1]),
      'fpn.downsample_layers.2.weight': generatedWeight('b', [6, 6, 3, 3]),
      'fpn.downsample_layers.2.bias': generatedWeight('c', [6]),
      'semantic_seg_conv.weight': generatedWeight('d', [2, 6, 1, 1]),
      'semantic_seg_conv.bias': generatedWeight('e', [2]),
    };
    const { ignored } = exportYolact(withTensors(extra), TINY_YOLACT_CONFIG, SIZE);
    expect(ignored.map(({ key }) => key)).toEqual(Object.keys(extra));
    expect(new Set(ignored.map(({ why }) => why))).toEqual(
      new Set(['old name, not read', 'a level that the config does not have', 'training only']),
    );
  });

  it('lists missing and extra tensors for the checkpoint of another architecture', () => {
    const error = errorOf(DetectionError, () => exportYolact(tinyState(TINY_V2), TINY_YOLACT_CONFIG, SIZE));
    expect(error.code).toBe('checkpoint-mismatch');
    expect(error.message).toMatch(/not a YOLACT.*missing: backbone\.conv1\.weight.*unexpected: .*backbone\.body\.conv1\.weight/);
    expect(error.details).toMatchObject({
      missing: expect.arrayContaining(['proto_net.0.weight', 'prediction_layers.0.bbox_layer.weight']),
    });
  });

  it('refuses YOLACT++, naming its layers', () => {
    const error = errorOf(DetectionError, () =>
      exportYolact(withTensors({ 'maskiou_net.0.weight': generatedWeight('m', [8, 1, 3, 3]) }), TINY_YOLACT_CONFIG, SIZE),
    );
    expect(error.message).toContain('1 unexpected: maskiou_net.0.weight');
    expect(error.help).toContain('YOLACT++');
  });

  it('names a tensor of another shape, and a module with too high an index', () => {
    const wrong = errorOf(DetectionError, () =>
      exportYolact(withTensors({ 'fpn.lat_layers.0.weight': generatedWeight('w', [6, 21, 1, 1]) }), TINY_YOLACT_CONFIG, SIZE),
    );
    expect(wrong.message).toContain('fpn.lat_layers.0.weight has shape [6, 21, 1, 1], expected [6, 20, 1, 1]');
    const far = errorOf(DetectionError, () =>
      exportYolact(withTensors({ 'proto_net.2000000000.weight': generatedWeight('w', [6, 6, 1, 1]) }), TINY_YOLACT_CONFIG, SIZE),
    );
    expect(far.message).toContain('1 unexpected: proto_net.2000000000.weight');
  });

  it('refuses more pyramid levels than the backbone has stages', () => {
    const extra = Object.fromEntries([3, 4].map(n => [`fpn.lat_layers.${n}.weight`, generatedWeight('l', [6, 8, 1, 1])]));
    const error = errorOf(DetectionError, () => exportYolact(withTensors(extra), TINY_YOLACT_CONFIG, SIZE));
    expect(error.details).toMatchObject({ unexpected: expect.arrayContaining(['fpn.lat_layers.4.weight']) });
  });

  it.each([
    ['another number of categories', { categories: TINY_YOLACT_CONFIG.categories.slice(1) }, 'categories has 1 entries'],
    [
      'other priors per cell',
      { priors: { ...TINY_YOLACT_CONFIG.priors, aspectRatios: [1] } },
      'priors.scales[0] with aspectRatios gives 1 priors per cell',
    ],
  ])('finds %s than the network has', (_, change, message) => {
    const error = errorOf(DetectionError, () => exportYolact(tinyYolactState(TINY_RESNET), { ...TINY_YOLACT_CONFIG, ...change }, SIZE));
    expect(error.code).toBe('config-mismatch');
    expect(error.message).toContain(message);
  });

  it('accepts any square size, and no other', () => {
    const error = errorOf(DetectionError, () => exportYolact(tinyYolactState(TINY_RESNET), TINY_YOLACT_CONFIG, { height: 64, width: 96 }));
    expect(error.code).toBe('input-size');
    const { recipe } = exportYolact(tinyYolactState(TINY_RESNET), TINY_YOLACT_CONFIG, { height: 1, width: 1 });
    expect(recipe.levels.map(({ height }) => height)).toEqual([1, 1, 1, 1, 1]);
  });
});
