/** The RoI heads of all detectors as float models that take any number of rows, and rows for them with neighbors of extreme values. */
import { buildMaskRcnn } from '../../src/detection/families/maskrcnn/export/export-maskrcnn.js';
import { getValue } from '../../src/onnx/ir/edit.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { simplifyToFixedPoint } from '../../src/onnx/passes/simplify.js';
import { rewriteModel } from '../../src/onnx/rewrite/rewrite-model.js';
import { getRule } from '../../src/onnx/rules/target/get-rule.js';
import { extractSubgraph } from '../../src/onnx/surgery/extract.js';
import { evaluate } from '../../src/runtime/session/evaluate.js';
import { makeTensor, type Tensor } from '../../src/tensor/tensor.js';
import { generatedInput } from './generated-weights.js';
import { exportScoringShapes, exportShapes } from './shapes.js';
import { TINY_CONFIG, TINY_V1, tinyState } from './tiny-maskrcnn.js';

export const HEADS = [
  'box head v2',
  'box head v1',
  'mask head',
  'mask head, DepthToSpace',
  'MaskIoU head, split',
  'MaskIoU head, concat',
] as const;
export type Head = (typeof HEADS)[number];

/** The trained heads of the example, and a generated box head of two fully connected layers. */
export async function makeHead(head: Head): Promise<Model> {
  const model = await cutHead(head);
  await simplifyToFixedPoint(model, { evaluate, foldLimitBytes: 1 << 20, check: () => [] });
  if (head === 'mask head, DepthToSpace') {
    rewriteModel(model, {
      rules: [{ rule: getRule('conv-transpose-depth-to-space', undefined), matches: 'one' }],
      edits: [],
      check: () => [],
    });
  }
  return model;
}

async function cutHead(head: Head): Promise<Model> {
  switch (head) {
    case 'box head v1': {
      const options = {
        height: 64,
        width: 96,
        fit: 'static',
        size: 'fixed',
        roiBatch: { box: 'free', mask: 'free' },
        frozenEpsilon: 0,
      } as const;
      const { builder, recipe } = buildMaskRcnn(tinyState(TINY_V1), TINY_V1, TINY_CONFIG, options);
      return extractSubgraph(builder.model, recipe.parts.box_head);
    }
    case 'MaskIoU head, split':
    case 'MaskIoU head, concat': {
      const { model, recipe } = await exportScoringShapes({ maskInput: head === 'MaskIoU head, split' ? 'split' : 'concat' });
      return extractSubgraph(model, recipe.parts.maskiou_head);
    }
    default: {
      const { model, recipe } = await exportShapes();
      return extractSubgraph(model, recipe.parts[head === 'box head v2' ? 'box_head' : 'mask_head']);
    }
  }
}

/** Rows for every input of a head. Every third row is 100 times larger than the others, so that an influence on its neighbors shows. */
export function makeRows({ graph }: Model, count: number): Readonly<Record<string, Tensor<'float32'>>> {
  const rows = graph.inputs.map(id => {
    const { name, type } = getValue(graph, id);
    const dims = [count, ...(type?.kind === 'tensor' ? (type.dims ?? []).slice(1).map(Number) : [])];
    const { data } = generatedInput(name, dims, 2);
    const size = data.length / count;
    return [
      name,
      makeTensor(
        'float32',
        dims,
        data.map((value, at) => (Math.floor(at / size) % 3 === 1 ? 100 * value : value)),
      ),
    ] as const;
  });
  return Object.fromEntries(rows);
}
