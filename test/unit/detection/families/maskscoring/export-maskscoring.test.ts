/** Export of the MaskIoU head in both forms, and errors for checkpoints with and without it. */
import { exportMaskRcnn } from '../../../../../src/detection/families/maskrcnn/export/export-maskrcnn.js';
import {
  exportMaskScoring,
  type MaskScoringExportOptions,
} from '../../../../../src/detection/families/maskscoring/export/export-maskscoring.js';
import { poolMasks, scoreMasks } from '../../../../../src/detection/families/maskscoring/mask-iou.js';
import { checkModel } from '../../../../../src/onnx/check/check-model.js';
import { getValue } from '../../../../../src/onnx/ir/edit.js';
import type { Model } from '../../../../../src/onnx/ir/model.js';
import { encodeModel } from '../../../../../src/onnx/serde/encode-model.js';
import { extractSubgraph } from '../../../../../src/onnx/surgery/extract.js';
import { openSession } from '../../../../../src/runtime/session/session.js';
import { relativeError } from '../../../../support/detector-parts.js';
import { generatedInput } from '../../../../support/generated-weights.js';
import { TINY_CONFIG, TINY_MASK_IOU, TINY_V2, tinyScoringState, tinyState } from '../../../../support/tiny-maskrcnn.js';

const OPTIONS: MaskScoringExportOptions = {
  height: 64,
  width: 96,
  roiBatch: { box: 'free', mask: 'free', maskIou: 'free' },
  fit: 'static',
  frozenEpsilon: undefined,
  maskInput: 'split',
};

function typesOf({ graph }: Model): Record<string, unknown> {
  const ids = [...graph.inputs, ...graph.outputs];
  return Object.fromEntries(
    ids.map(id => {
      const { name, type } = getValue(graph, id);
      return [name, type?.kind === 'tensor' ? type.dims : undefined];
    }),
  );
}

const operatorsOf = ({ graph }: Model): string[] => [...graph.nodes.values()].map(node => node.opType);

describe('exporting Mask Scoring R-CNN', () => {
  it('adds a part with two inputs, the mask as a separate channel, and reads its widths', () => {
    const { model, recipe, network, parameters } = exportMaskScoring(tinyScoringState(), TINY_CONFIG, OPTIONS);
    const head = extractSubgraph(model, recipe.parts.maskiou_head);
    expect(typesOf(head)).toEqual({
      maskiou_features: ['maskiou_rois', 6, 14, 14],
      mask_probability: ['maskiou_rois', 1, 14, 14],
      mask_iou: ['maskiou_rois', 4],
    });
    expect(network.maskIouHead).toEqual(TINY_MASK_IOU);
    const convs = 5 * 7 * 9 + 5 + (4 * 5 * 9 + 4) + (6 * 4 * 9 + 6) + (3 * 6 * 9 + 3);
    expect(parameters.maskiou_head).toBe(convs + (8 * 3 * 49 + 8) + (7 * 8 + 7) + (4 * 7 + 4));
    expect(checkModel(model)).toEqual([]);
  });

  it('gives the same three other parts, and the same recipe of them, as Mask R-CNN', () => {
    const scoring = exportMaskScoring(tinyScoringState(), TINY_CONFIG, OPTIONS);
    const plain = exportMaskRcnn(tinyState(TINY_V2), TINY_CONFIG, OPTIONS);
    for (const part of ['backbone', 'box_head', 'mask_head'] as const) {
      const [ours, theirs] = [scoring, plain].map(({ model, recipe }) => encodeModel(extractSubgraph(model, recipe.parts[part])));
      expect(Buffer.compare(ours ?? new Uint8Array(), theirs ?? new Uint8Array())).toBe(0);
    }
    expect(scoring.recipe).toMatchObject({ ...plain.recipe, architecture: 'maskscoring' });
  });

  it('reads the mask by a separate convolution, or concatenated after the features, with the same sums', async () => {
    const [split, concat] = (['split', 'concat'] as const).map(maskInput => {
      const { model, recipe } = exportMaskScoring(tinyScoringState(), TINY_CONFIG, { ...OPTIONS, maskInput });
      return extractSubgraph(model, recipe.parts.maskiou_head);
    }) as [Model, Model];
    expect(operatorsOf(split).slice(0, 4)).toEqual(['Conv', 'Conv', 'Add', 'Relu']);
    expect(operatorsOf(concat).slice(0, 3)).toEqual(['Concat', 'Conv', 'Relu']);
    const feeds = { maskiou_features: generatedInput('f', [3, 6, 14, 14], 2), mask_probability: generatedInput('m', [3, 1, 14, 14]) };
    const [one, other] = await Promise.all(
      [split, concat].map(async model => {
        const session = await openSession(encodeModel(model), { optimization: 'all' });
        const { mask_iou } = await session.run(feeds);
        await session.close();
        return mask_iou?.data as Float32Array;
      }),
    );
    expect(relativeError(one ?? new Float32Array(), other ?? [])).toBeLessThan(1e-5);
  });

  it('fixes the batch on request', () => {
    const options = { ...OPTIONS, roiBatch: { box: 8, mask: 4, maskIou: 2 } } as const;
    const { model, recipe } = exportMaskScoring(tinyScoringState(), TINY_CONFIG, options);
    expect(typesOf(extractSubgraph(model, recipe.parts.maskiou_head))).toMatchObject({
      mask_probability: [2, 1, 14, 14],
      mask_iou: [2, 4],
    });
    expect(recipe.maskIouHead.batch).toBe(2);
  });
});

describe('a checkpoint of the other architecture', () => {
  it('without the head names every missing tensor, and the architecture that accepts the checkpoint', () => {
    expect(() => exportMaskScoring(tinyState(TINY_V2), TINY_CONFIG, OPTIONS)).toThrow(
      expect.objectContaining({
        code: 'checkpoint-mismatch',
        message: expect.stringContaining('14 missing: roi_heads.maskiou.feature_extractor.maskiou_fcn1.weight, '),
        help: expect.stringContaining('architecture maskrcnn'),
      }),
    );
  });

  it('with the head is refused as Mask R-CNN, with the architecture that accepts it', () => {
    expect(() => exportMaskRcnn(tinyScoringState(), TINY_CONFIG, OPTIONS)).toThrow(
      expect.objectContaining({ code: 'checkpoint-mismatch', help: expect.stringContaining('architecture maskscoring') }),
    );
  });

  it('whose head has other classes or widths is an error', () => {
    const state = tinyScoringState();
    state.set('roi_heads.maskiou.predictor.maskiou.bias', { dtype: 'float32', dims: [5], bytes: new Uint8Array(20) });
    state.set('roi_heads.maskiou.feature_extractor.maskiou_fcn5.bias', { dtype: 'float32', dims: [5], bytes: new Uint8Array(20) });
    expect(() => exportMaskScoring(state, TINY_CONFIG, OPTIONS)).toThrow(
      expect.objectContaining({
        details: {
          missing: [],
          unexpected: ['roi_heads.maskiou.feature_extractor.maskiou_fcn5.bias'],
          wrong: ['roi_heads.maskiou.predictor.maskiou.bias has shape [5], expected [4]'],
        },
      }),
    );
  });
});

describe("the host's work for the head", () => {
  it('pools each mask 2×2 by its largest probability', () => {
    const data = Float32Array.of(...[1, 2, 3, 4], ...[5, 0, 7, 9], ...[0, 0, 0, 0], ...[0, 6, 8, 0], ...new Array<number>(16).fill(2));
    const pooled = poolMasks({ side: 4, data });
    expect(pooled.dims).toEqual([2, 1, 2, 2]);
    expect([...pooled.data]).toEqual([5, 9, 6, 8, 2, 2, 2, 2]);
    expect(poolMasks({ side: 4, data: new Float32Array(0) }).dims).toEqual([0, 1, 2, 2]);
  });

  it("multiplies each class score by the IoU of the object's own class, which may be more than 1", () => {
    const ious = Float32Array.of(0, 0.5, 0.25, 0, 9, 1.25);
    expect([...scoreMasks(Float32Array.of(0.5, 1), Int32Array.of(1, 2), ious, 3)]).toEqual([0.25, 1.25]);
  });
});
