/** The plain executor gives the bytes that ONNX Runtime gave for every one-operator model of the shared folder. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readModel } from '../../../src/onnx/serde/model-file.js';
import { openPlainExecutor } from '../../../src/quant/simulate/plain/executor.js';
import type { RoundingMode } from '../../../src/quant/simulate/steps/rounding-mode.js';
import { makeTensor, type Tensor } from '../../../src/tensor/tensor.js';
import { findSharedFolder } from '../../support/shared-folder.js';

interface Described {
  readonly dtype: 'int8' | 'uint8';
  readonly shape: readonly number[];
}

interface Meta {
  readonly kind: string;
  readonly inputs: readonly (Described & { readonly name: string })[];
  readonly output: Described;
}

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;

function read(path: string, { dtype, shape }: Described): Tensor {
  const bytes = new Uint8Array(readFileSync(path));
  return dtype === 'int8' ? makeTensor('int8', shape, new Int8Array(bytes.buffer)) : makeTensor('uint8', shape, bytes);
}

const bytesOf = ({ data }: Tensor): Buffer => Buffer.from(data as Uint8Array);

suite('the plain executor', () => {
  const cases: readonly (readonly [string, RoundingMode, number])[] = [
    ['ort-default', 'ort', 180],
    ['ort-int8-allowed', 'ort', 180],
    ['power-of-two', 'ort', 60],
    ['power-of-two', 'pow2-py3', 60],
  ];

  it.each(cases)('gives the recorded bytes of all models of %s with rounding %s', async (set, mode, count) => {
    const folder = join(shared ?? '', 'conformance/arithmetic', set);
    const different: string[] = [];
    const names = readdirSync(folder).sort();
    for (const name of names) {
      const meta = JSON.parse(readFileSync(join(folder, name, 'meta.json'), 'utf8')) as Meta;
      const executor = openPlainExecutor(await readModel(join(folder, name, 'm.onnx')), mode);
      const feeds = Object.fromEntries(meta.inputs.map(input => [input.name, read(join(folder, name, `in_${input.name}.bin`), input)]));
      const [output] = Object.values(await executor.run(feeds).finally(executor.close));
      const recorded = read(join(folder, name, 'out.bin'), meta.output);
      const isEqual = output?.dtype === recorded.dtype && bytesOf(output).equals(bytesOf(recorded));
      if (!isEqual) different.push(`${name} (${meta.kind})`);
    }
    expect({ count: names.length, different }).toEqual({ count, different: [] });
  });
});
