/** Conformance of shape inference on the ONNX operator tests. Oracle: the recorded outputs. Inputs are constants, as shapes and axes are in models. */
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Model } from '../../../src/onnx/ir/model.js';
import { decodeModel } from '../../../src/onnx/serde/decode-model.js';
import { inferShapes } from '../../../src/onnx/shape-inference/infer-shapes.js';
import { findPassingTests, readRecordedConstant } from '../../support/backend-tests.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder();

/** The passing tests with an output of which a size stays unknown, by operators, with their number and the reason. All else is inferred completely. */
const UNKNOWN: Readonly<Record<string, readonly [number, string]>> = {
  Compress: [4, 'how many conditions are true'],
  NonMaxSuppression: [10, 'how many boxes stay'],
  NonZero: [1, 'how many elements are not 0'],
  StringNormalizer: [2, 'how many words stay'],
  StringSplit: [6, 'how many words there are'],
  Unique: [18, 'how many values differ'],
  Loop: [1, 'how often the body runs'],
  Scan: [2, 'opset 8, whose sequences have lengths as an input'],
  'Add,Cast,Constant,Cos,Div,Mul,Range,Sub': [6, 'the limit of a Range of floats is computed'],
  'Add,CastLike,Concat,Constant,ConstantOfShape,Equal,If,MatMul,Mul,Range,Reshape,Size,Slice,Transpose,Unsqueeze': [
    4,
    'a shape that branches compute from floats',
  ],
  'ConcatFromSequence,SequenceConstruct': [2, 'what a sequence holds is not followed'],
  'SequenceAt,SequenceConstruct,SequenceErase': [1, 'what a sequence holds is not followed'],
  'SequenceAt,SequenceConstruct,SequenceErase,SequenceInsert': [1, 'what a sequence holds is not followed'],
  'SequenceAt,SequenceEmpty,SequenceInsert': [1, 'what a sequence holds is not followed'],
  'SequenceAt,SplitToSequence': [1, 'what a sequence holds is not followed'],
  OptionalGetElement: [2, 'what an optional holds is not followed'],
  'ai.onnx.ml.TreeEnsemble': [2, 'classic models are not followed'],
};

type Finding = readonly [test: string, operators: string];

/** The model with the recorded inputs as constants, and nothing stated of what its nodes make. */
function givenInputs(path: string): Model {
  const model = decodeModel(new Uint8Array(readFileSync(path)));
  const { graph } = model;
  for (const [index, input] of [...graph.inputs].entries()) {
    const value = graph.values.get(input);
    const constant = readRecordedConstant(join(dirname(path), 'test_data_set_0', `input_${index}.pb`));
    if (value === undefined || constant === undefined || value.type?.kind !== 'tensor') continue;
    value.constant = constant;
    graph.inputs = graph.inputs.filter(id => id !== input);
  }
  for (const value of graph.values.values()) if (value.producer !== undefined) value.type = undefined;
  return model;
}

const operatorsOf = (model: Model): string =>
  [...new Set([...model.graph.nodes.values()].map(({ domain, opType }) => (domain === '' ? opType : `${domain}.${opType}`)))]
    .sort()
    .join(',');

(shared === undefined ? describe.skip : describe)('shapes of the operators’ own tests', () => {
  it('no size is wrong, and only what the data say stays unknown', () => {
    const wrong: string[] = [];
    const unknown: Finding[] = [];
    let sizes = 0;
    for (const path of findPassingTests()) {
      const test = basename(dirname(path));
      const model = givenInputs(path);
      const types = inferShapes(model);
      for (const [index, output] of model.graph.outputs.entries()) {
        const recorded = readRecordedConstant(join(dirname(path), 'test_data_set_0', `output_${index}.pb`));
        if (recorded === undefined) continue;
        const found = types.get(output);
        sizes += recorded.dims.length;
        if (found?.dtype !== undefined && found.dtype !== recorded.dtype) wrong.push(`${test}: ${found.dtype} for ${recorded.dtype}`);
        if (found?.dims === undefined || found.dims.some(dim => typeof dim !== 'number')) unknown.push([test, operatorsOf(model)]);
        const differs = found?.dims?.some((dim, axis) => typeof dim === 'number' && dim !== recorded.dims[axis]);
        if (found?.dims !== undefined && (differs || found.dims.length !== recorded.dims.length))
          wrong.push(`${test}: [${found.dims.join()}] for [${recorded.dims.join()}]`);
      }
    }
    const counts: Record<string, number> = {};
    for (const [, operators] of unknown) counts[operators] = (counts[operators] ?? 0) + 1;
    expect(wrong).toEqual([]);
    expect(sizes).toBeGreaterThan(3000);
    expect(counts).toEqual(Object.fromEntries(Object.entries(UNKNOWN).map(([operators, [count]]) => [operators, count])));
  });
});
