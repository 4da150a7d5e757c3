/** A small model whose weights lie in two files, one of them in a folder. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { encodeMessage } from '../../src/onnx/proto/codec/encode-message.js';

const FLOAT = 1;
const EXTERNAL = 1;

/** `y = Relu(x · a) · b`, with 2×2 matrices in `folder`; `locations` are their files as the model states them. */
export function writeSplitWeights(folder: string, locations: readonly [string, string], values = [1, 2, 3, 4]): void {
  const tensors = locations.map((location, index) => {
    const path = join(folder, location.replaceAll('\\', '/'));
    if (!location.includes('..')) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, new Uint8Array(Float32Array.from(values, value => value + index).buffer));
    }
    const externalData = [{ key: 'location', value: location }];
    return { name: 'ab'.charAt(index), dataType: FLOAT, dims: BigInt64Array.of(2n, 2n), dataLocation: EXTERNAL, externalData };
  });
  const valueInfo = (name: string) => ({
    name,
    type: { tensorType: { elemType: FLOAT, shape: { dim: [{ dimValue: 1n }, { dimValue: 2n }] } } },
  });
  const node = (opType: string, input: readonly string[], output: string) => ({ opType, input: [...input], output: [output] });
  const graph = {
    name: 'g',
    node: [node('MatMul', ['x', 'a'], 'h'), node('Relu', ['h'], 'r'), node('MatMul', ['r', 'b'], 'y')],
    initializer: tensors,
    input: [valueInfo('x')],
    output: [valueInfo('y')],
  };
  writeFileSync(
    join(folder, 'net.onnx'),
    encodeMessage('ModelProto', { irVersion: 8n, opsetImport: [{ domain: '', version: 17n }], graph }),
  );
}
