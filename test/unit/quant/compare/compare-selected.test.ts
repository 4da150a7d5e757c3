/** Outputs behind selections, with the selection of one model in both. */
import { toFloats } from '../../../../src/detection/detector/part-runner.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import { openSelectedComparer } from '../../../../src/quant/compare/compare-selected.js';
import { holdSelections } from '../../../../src/quant/compare/held-selections.js';
import { makeTensor } from '../../../../src/tensor/tensor.js';

/** The scores above a limit, the class of each by its score, and its place. */
const found = (limit: number): string => `<ir_version: 8, opset_import: ["": 17]>
g (float[8] x) => (float[K] scores, int64[K] labels, int64[K] places) <float limit = {${limit}}, int64[1] flat = {-1}> {
  above = Greater(x, limit)
  found = NonZero(above)
  places = Reshape(found, flat)
  scores = Gather(x, places)
  labels = Cast<to = 7>(scores)
}`;

it('integers are compared as a detector reads them, and those of positions alone where their shapes differ', async () => {
  const held = holdSelections(parseModelText(found(2)), parseModelText(found(4)));
  if (held === undefined) throw new Error('nothing is selected');
  expect([held.outputs, held.followers]).toEqual([['scores', 'labels'], ['places']]);
  const comparer = await openSelectedComparer(held, { optimization: 'all', toFloats: values => toFloats('model', values) });
  try {
    await comparer.compare({ x: makeTensor('float32', [8], Float32Array.from([0, 1, 2, 3, 4, 5, 6, 7])) });
    const { values, selections } = comparer.conclude('model', 1, new Set());
    expect(values).toMatchObject({ scores: { sqnrDb: 'equal', elements: 5 }, labels: { sqnrDb: 'equal', elements: 5 } });
    expect(values).not.toHaveProperty('places');
    expect(selections).toMatchObject([{ selected: 5, common: 3 }]);
    expect(comparer.conclude('model', 1, new Set(['places'])).values).toHaveProperty('places');
    expect(comparer.conclude('model', 2, new Set()).values).toEqual({});
  } finally {
    await comparer.close();
  }
});
