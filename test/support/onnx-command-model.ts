/** The model that tests of `tanren onnx` run on, and a project with it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeModel } from '../../src/onnx/serde/encode-model.js';
import { parseModelText } from '../../src/onnx/text/parse-text.js';
import { type CliWorld, givenProject } from './cli-world.js';

export const COMMAND_MODEL = `<ir_version: 8, opset_import: ["": 13]>
g (float[N, 3, 8, 8] x) => (float[N, 4, 8, 8] y, float[N, 4, 8, 8] z)
<float[4, 3, 1, 1] w = {0.5, 1, -1, 2, 0.25, 1, 1, -2, 1, 0.5, 3, 1}, float[4] scale = {1, 2, 1, 1}, float[4] bias = {0, 1, 0, 0}, float[4] mean = {0, 0, 0, 0}, float[4] var = {1, 1, 1, 1}> {
  [conv] c = Conv(x, w)
  [norm] n = BatchNormalization(c, scale, bias, mean, var)
  [same] i = Identity(n)
  [relu] y = Relu(i)
  [sigmoid] z = Sigmoid(y)
}`;

/** A project with the model as `model.onnx`. */
export function givenModelFile(): CliWorld {
  const world = givenProject({});
  writeFileSync(join(world.folder, 'model.onnx'), encodeModel(parseModelText(COMMAND_MODEL)));
  return world;
}
