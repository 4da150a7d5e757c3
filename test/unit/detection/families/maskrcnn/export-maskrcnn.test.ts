/** Export of Mask R-CNN checkpoints: parts, names, weights and recipe; checkpoints and configs that do not fit. */
import { DetectionError } from '../../../../../src/detection/error/detection-error.js';
import { exportMaskRcnn, type MaskRcnnExportOptions } from '../../../../../src/detection/families/maskrcnn/export/export-maskrcnn.js';
import type { MaskRcnnSpec } from '../../../../../src/detection/families/maskrcnn/export/network-spec.js';
import { parseRecipe } from '../../../../../src/detection/read-definition.js';
import { getValue } from '../../../../../src/onnx/ir/edit.js';
import { extractSubgraph } from '../../../../../src/onnx/surgery/extract.js';
import type { RawTensor } from '../../../../../src/tensor/tensor.js';
import { errorOf } from '../../../../support/error-code.js';
import { generatedInput, generatedWeight } from '../../../../support/generated-weights.js';
import { listProblems, runModel } from '../../../../support/look-at-model.js';
import { shapesOf } from '../../../../support/shapes-of.js';
import { TINY_CONFIG, TINY_V1, TINY_V2, tinyState } from '../../../../support/tiny-maskrcnn.js';

const OPTIONS: MaskRcnnExportOptions = {
  height: 64,
  width: 96,
  roiBatch: { box: 'free', mask: 3 },
  fit: 'static',
  frozenEpsilon: undefined,
};

describe('exporting a Mask R-CNN', () => {
  it('gives three parts with the inputs and outputs that the recipe names', () => {
    const result = exportMaskRcnn(tinyState(TINY_V2), TINY_CONFIG, OPTIONS);
    const { graph } = result.model;
    expect(shapesOf(result, graph.inputs)).toEqual({
      image: [1, 3, 64, 96],
      box_features: ['box_rois', 6, 7, 7],
      mask_features: [3, 6, 14, 14],
    });
    expect(shapesOf(result, graph.outputs)).toEqual({
      feature_0: [1, 6, 16, 24],
      feature_1: [1, 6, 8, 12],
      feature_2: [1, 6, 4, 6],
      feature_3: [1, 6, 2, 3],
      objectness_0: [1, 3, 16, 24],
      objectness_1: [1, 3, 8, 12],
      objectness_2: [1, 3, 4, 6],
      objectness_3: [1, 3, 2, 3],
      objectness_4: [1, 3, 1, 2],
      rpn_deltas_0: [1, 12, 16, 24],
      rpn_deltas_1: [1, 12, 8, 12],
      rpn_deltas_2: [1, 12, 4, 6],
      rpn_deltas_3: [1, 12, 2, 3],
      rpn_deltas_4: [1, 12, 1, 2],
      class_logits: ['box_rois', 4],
      box_regression: ['box_rois', 16],
      mask_logits: [3, 4, 28, 28],
    });
    const { parts } = result.recipe;
    expect(Object.values(parts).flatMap(part => part.outputs)).toEqual(graph.outputs.map(id => getValue(graph, id).name));
  });

  it.each([
    ['v2', TINY_V2, undefined],
    ['v1 with a frozen body', TINY_V1, 0],
  ] as const)('reads the layers and widths of %s from the checkpoint', (_, network, frozenEpsilon) => {
    const result = exportMaskRcnn(tinyState(network), TINY_CONFIG, { ...OPTIONS, frozenEpsilon });
    expect(result.network).toEqual(network);
  });

  it('shares the RPN head over the levels: one initializer, five nodes', () => {
    const { model } = exportMaskRcnn(tinyState(TINY_V2), TINY_CONFIG, OPTIONS);
    const users = [...model.graph.nodes.values()].filter(node => /^rpn\/head\/level_\d\/cls_logits$/.test(node.name));
    expect(users).toHaveLength(5);
    expect(new Set(users.map(node => node.inputs[1])).size).toBe(1);
  });

  it('names nodes after modules, and initializers after keys', () => {
    const { model } = exportMaskRcnn(tinyState(TINY_V2), TINY_CONFIG, OPTIONS);
    const names = [...model.graph.nodes.values()].map(node => node.name);
    expect(names).toContain('backbone/body/layer1/0/conv1');
    expect(new Set(names).size).toBe(names.length);
    const values = [...model.graph.values.values()].map(value => value.name);
    expect(values).toContain('roi_heads.box_head.0.1.running_var');
    expect(new Set(values).size).toBe(values.length);
  });

  it('copies every weight unchanged', () => {
    const state = tinyState(TINY_V2);
    const { model } = exportMaskRcnn(state, TINY_CONFIG, OPTIONS);
    const constants = new Map([...model.graph.values.values()].map(value => [value.name, value.constant]));
    for (const [key, tensor] of state) if (!key.endsWith('num_batches_tracked')) expect(constants.get(key)).toBe(tensor);
  });

  it('counts trained parameters; those of frozen norms are not trained', () => {
    const trained = (network: MaskRcnnSpec, prefix: RegExp): number => {
      const keys = [...tinyState(network)].filter(([key]) => prefix.test(key) && /weight$|bias$/.test(key));
      const counted = keys.filter(([key]) => network.bodyNorm !== 'frozen' || !/^backbone\.body\..*(bn\d|downsample\.1)\./.test(key));
      return counted.reduce((sum, [, tensor]) => sum + tensor.dims.reduce((product, dim) => product * dim, 1), 0);
    };
    for (const network of [TINY_V2, TINY_V1]) {
      const { parameters } = exportMaskRcnn(tinyState(network), TINY_CONFIG, { ...OPTIONS, frozenEpsilon: 0 });
      expect(parameters.total).toBe(trained(network, /./));
      expect(parameters.mask_head).toBe(trained(network, /^roi_heads\.mask/));
    }
  });

  it('writes a recipe that its parser reads back', () => {
    const { recipe } = exportMaskRcnn(tinyState(TINY_V2), TINY_CONFIG, OPTIONS);
    expect(parseRecipe(JSON.parse(JSON.stringify(recipe)))).toEqual(recipe);
    expect(recipe.levels.map(({ stride }) => stride)).toEqual([4, 8, 16, 32, 64]);
  });

  it("accepts torchvision's older names", () => {
    const older = new Map<string, RawTensor>();
    for (const [key, tensor] of tinyState(TINY_V1)) {
      const name = key
        .replace(/^(backbone\.fpn\.\w+_blocks\.\d)\.0\./, '$1.')
        .replace('rpn.head.conv.0.0.', 'rpn.head.conv.')
        .replace(/mask_head\.(\d)\.0\./, (_, n) => `mask_head.mask_fcn${Number(n) + 1}.`);
      older.set(name, tensor);
    }
    expect(older.has('roi_heads.mask_head.mask_fcn2.weight')).toBe(true);
    const options = { ...OPTIONS, frozenEpsilon: 1e-5 };
    expect(exportMaskRcnn(older, TINY_CONFIG, options).network).toEqual(TINY_V1);
  });
});

describe('a checkpoint that does not fit', () => {
  it('is refused with all missing keys, unexpected keys, wrong shapes and wrong dtypes in one error', () => {
    const state = tinyState(TINY_V2);
    state.delete('backbone.body.layer2.0.bn2.running_var');
    state.delete('rpn.head.bbox_pred.bias');
    state.set('roi_heads.maskiou.conv1.weight', generatedWeight('x', [1]));
    state.set('backbone.body.layer1.1.conv2.weight', generatedWeight('x', [2, 3, 3, 3]));
    state.set('roi_heads.box_head.0.1.bias', { dtype: 'float16', dims: [6], bytes: new Uint8Array(12) });
    const error = errorOf(DetectionError, () => exportMaskRcnn(state, TINY_CONFIG, OPTIONS));
    expect(error.code).toBe('checkpoint-mismatch');
    expect(error.details).toEqual({
      missing: ['backbone.body.layer2.0.bn2.running_var', 'rpn.head.bbox_pred.bias'],
      unexpected: ['roi_heads.maskiou.conv1.weight'],
      wrong: [
        'backbone.body.layer1.1.conv2.weight has shape [2, 3, 3, 3], expected [2, 2, 3, 3]',
        'roi_heads.box_head.0.1.bias is float16, expected float32',
      ],
    });
    expect(error.message).toContain('2 missing: backbone.body.layer2.0.bn2.running_var, rpn.head.bbox_pred.bias');
  });

  it('shows the first of many keys, and lists all in the details', () => {
    const error = errorOf(DetectionError, () => exportMaskRcnn(new Map(), TINY_CONFIG, OPTIONS));
    expect(error.message).toMatch(/\d+ missing: backbone\.body\.conv1\.weight, .*, and \d+ more$/);
  });

  it('names the prefix that all keys have', () => {
    const state = new Map([...tinyState(TINY_V2)].map(([key, tensor]) => [`module.${key}`, tensor]));
    expect(errorOf(DetectionError, () => exportMaskRcnn(state, TINY_CONFIG, OPTIONS)).help).toContain('starts with "module."');
  });

  it('with a huge number in a key is refused without building a huge network', () => {
    const state = tinyState(TINY_V2);
    state.set('backbone.body.layer1.999999999.conv1.weight', generatedWeight('x', [1]));
    expect(errorOf(DetectionError, () => exportMaskRcnn(state, TINY_CONFIG, OPTIONS)).code).toBe('checkpoint-mismatch');
  });

  it('with a frozen body needs `frozenBatchNormEpsilon`', () => {
    const error = errorOf(DetectionError, () => exportMaskRcnn(tinyState(TINY_V1), TINY_CONFIG, OPTIONS));
    expect(error.code).toBe('frozen-epsilon');
    expect(error.help).toContain('frozenBatchNormEpsilon');
  });
});

describe('a config that does not fit the checkpoint', () => {
  it('is refused with all contradictions in one error', () => {
    const config = { ...TINY_CONFIG, numClasses: 7, anchors: { sizes: [[8], [16, 32], [64], [128]], aspectRatios: [0.5, 1, 2] } };
    const error = errorOf(DetectionError, () => exportMaskRcnn(tinyState(TINY_V2), config, OPTIONS));
    expect(error.code).toBe('config-mismatch');
    expect(error.details).toEqual([
      'numClasses is 7, roi_heads.box_predictor.cls_score has 4 classes (background included)',
      'anchors.sizes has 4 levels, the network has 5',
      'anchors.sizes[1] with aspectRatios gives 6 anchors per cell, rpn.head.cls_logits has 3',
    ]);
  });

  it('a model of free size accepts any multiples of 32, and equals models of these sizes bit for bit', async () => {
    const free = exportMaskRcnn(tinyState(TINY_V2), TINY_CONFIG, { ...OPTIONS, size: 'free' });
    expect(free.recipe.image).toMatchObject({ height: OPTIONS.height, width: OPTIONS.width, size: 'free' });
    const backbone = extractSubgraph(free.model, free.recipe.parts.backbone);
    expect(listProblems(backbone)).toEqual([]);
    for (const [height, width] of [
      [64, 96],
      [160, 32],
    ] as const) {
      const fixed = exportMaskRcnn(tinyState(TINY_V2), TINY_CONFIG, { ...OPTIONS, height, width });
      const feeds = { image: generatedInput('image', [1, 3, height, width]) };
      expect(await runModel(backbone, feeds)).toEqual(await runModel(extractSubgraph(fixed.model, fixed.recipe.parts.backbone), feeds));
    }
    const odd = { ...TINY_CONFIG, input: { ...TINY_CONFIG.input, sizeDivisible: 16 } };
    expect(errorOf(DetectionError, () => exportMaskRcnn(tinyState(TINY_V2), odd, { ...OPTIONS, size: 'free' })).code).toBe('input-size');
  });

  it('an input size that is not a multiple of sizeDivisible is rejected, with the nearest valid sizes', () => {
    const helpOf = (height: number, width: number): string | undefined => {
      const error = errorOf(DetectionError, () => exportMaskRcnn(tinyState(TINY_V2), TINY_CONFIG, { ...OPTIONS, height, width }));
      expect(error.code).toBe('input-size');
      return error.help;
    };
    expect(helpOf(65, 96)).toBe('nearest valid sizes: 64×96 and 96×96');
    expect(helpOf(800, 1333)).toBe('nearest valid sizes: 800×1312 and 800×1344');
    expect(helpOf(20, 7)).toBe('nearest valid sizes: 32×32');
  });
});

describe('a recipe', () => {
  it('with several mistakes is refused with all of them at once', () => {
    const { recipe } = exportMaskRcnn(tinyState(TINY_V2), TINY_CONFIG, OPTIONS);
    const { roi, ...rest } = recipe;
    const image = { value: 'image', height: 64, width: 96.5, size: 'fixed', fit: 'stretch' };
    const error = errorOf(DetectionError, () => parseRecipe({ ...rest, version: 2, image, extra: roi ?? null }));
    expect(error.code).toBe('bad-recipe');
    expect(error.details).toEqual([
      'extra: is not a known field',
      'version: should be 1, it is 2',
      'image.width: should be an integer, it is 96.5',
      'image.fit: should be "static" or "torchvision", it is "stretch"',
      'roi: should be an object, it is missing',
    ]);
  });
});
