/** Where the networks of a model with sizes that depend on the data begin. */
import { findStaticSteps } from '../../../../src/onnx/surgery/static-parts.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';

/** A convolution, and the places of positive values; `before` gives the value `image` that the convolution reads. */
const peaks = (channels: number, before: string): string => `<ir_version: 8, opset_import: ["": 17]>
g (float[1, 3, 8, 8] x) => (int64[4, K] found)
<float[1, ${channels}, 1, 1] w = {${Array.from({ length: channels }, () => 1).join(', ')}}, float zero = {0}, int64 first = {0}, int64[1] one = {1}, float gain = {2}> {
  ${before}
  map = Conv(image, w)
  above = Greater(map, zero)
  found = NonZero(above)
}`;

const kindsOf = (text: string): readonly (readonly [string, readonly string[]])[] =>
  findStaticSteps(parseModelText(text)).steps.map(({ kind, nodes }) => [kind, nodes.map(({ opType }) => opType)]);

it('nodes before a network are the host’s, as long as they give an image', () => {
  expect(kindsOf(peaks(3, 'image = Mul(x, gain)'))).toEqual([
    ['host', ['Mul']],
    ['network', ['Conv']],
    ['host', ['Greater', 'NonZero']],
  ]);
});

it('nodes before a network of an image with one channel are the host’s', () => {
  expect(kindsOf(peaks(1, 'image = Mul(x, gain)').replace('float[1, 3, 8, 8] x', 'float[1, 1, 8, 8] x'))).toEqual([
    ['host', ['Mul']],
    ['network', ['Conv']],
    ['host', ['Greater', 'NonZero']],
  ]);
});

it('nodes that take one channel of an image belong to the network', () => {
  expect(kindsOf(peaks(1, 'channel = Gather<axis = 1>(x, first)\n  image = Unsqueeze(channel, one)'))).toEqual([
    ['network', ['Gather', 'Unsqueeze', 'Conv']],
    ['host', ['Greater', 'NonZero']],
  ]);
});
