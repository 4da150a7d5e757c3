/** What a message says of sizes that are not known. */
import { inferShapes, writeTypes } from '../../../src/onnx/shape-inference/infer-shapes.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { findDataOrigins, helpWithFreeSizes } from '../../../src/target/units/free-sizes.js';

const parse = (text: string) => {
  const model = parseModelText(`<ir_version: 8, opset_import: ["": 17, "vendor": 1]> ${text}`);
  writeTypes(model, inferShapes(model));
  return model;
};

describe('the help with free sizes', () => {
  it('names the node from which on sizes depend on data, and the cut', () => {
    const model = parse('g (float[2, 3] x) => (int64[2, k] z, float[2, 3] r) { r = Relu(x) z = NonZero(r) }');
    expect(findDataOrigins(model).map(({ opType }) => opType)).toEqual(['NonZero']);
    const help = helpWithFreeSizes(model);
    expect(help).toMatch(/NonZero.*`split` with `cuts: static`/);
    expect(help).not.toMatch('`pin`');
  });

  it('does not speak of data where an operator of a vendor hides the sizes', () => {
    const model = parse('g (float[2, 3] x) => (float[k, 3] z) { r = Relu(x) z = vendor.Deform(r) }');
    expect(helpWithFreeSizes(model)).toMatch(/^sizes are not known from Deform/);
  });

  it('asks for a pin where the sizes of an input are free', () => {
    const model = parse('g (float[N, 3] x) => (float[N, 3] r) { r = Relu(x) }');
    expect(findDataOrigins(model)).toEqual([]);
    expect(helpWithFreeSizes(model)).toMatch('`pin`');
  });
});
