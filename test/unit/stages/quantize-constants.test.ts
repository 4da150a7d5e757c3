/** Digests of a model's weights that `quantize` keeps from run to run. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Digest } from '../../../src/base/digest.js';
import { digestLargeConstants, digestModelContent, takeConstantDigests } from '../../../src/onnx/analysis/content-digest.js';
import { readModel, writeModel } from '../../../src/onnx/serde/model-file.js';
import { digestInput } from '../../../stages/quantize/constants-part.js';
import { failureOf } from '../../support/error-code.js';
import { givenFolder } from '../../support/run-stage.js';
import { storingMemo } from '../../support/storing-memo.js';
import { smallGraph } from '../quant/small-graph.js';

/** MatMul with a weight of `rows` × 2048, 8 kB per row. */
function wide(rows: number, last = 0.5) {
  const small = smallGraph();
  small.input('x', [1, rows]);
  const floats = new Float32Array(rows * 2048);
  for (let i = 0; i < floats.length; i++) floats[i] = (i % 251) / 8;
  floats[floats.length - 1] = last;
  small.floats('w', [rows, 2048], floats);
  small.node('MatMul x w -> y');
  small.output('y');
  return small.model;
}

describe('the content digest of an input of quantize', () => {
  const folder = givenFolder('quantize-constants');

  async function write(name: string, model: ReturnType<typeof wide>): Promise<string> {
    const path = join(folder.path, name);
    await writeModel(path, model);
    return path;
  }

  it('takes the digests of large weights from an earlier run, and is the same', async () => {
    const memo = storingMemo(folder);
    const [path, other] = [await write('a.onnx', wide(2049)), await write('b.onnx', wide(2049, 0.25))];
    const first = await digestInput(await readModel(path), path, memo);
    const second = await digestInput(await readModel(path), path, memo);
    const third = await digestInput(await readModel(other), other, memo);
    expect(memo.computed).toEqual(['quantize-constants', 'quantize-constants']);
    expect([first, second]).toEqual(Array(2).fill(digestModelContent(await readModel(path))));
    expect(third).toBe(digestModelContent(await readModel(other)));
    expect(third).not.toBe(first);
  });

  it('asks for no part where weights are small', async () => {
    const memo = storingMemo(folder);
    const path = await write('small.onnx', wide(16));
    expect(await digestInput(await readModel(path), path, memo)).toBe(digestModelContent(await readModel(path)));
    expect(memo.computed).toEqual([]);
  });

  it('refuses a kept result of another form', async () => {
    const path = await write('c.onnx', wide(2049));
    const file = join(folder.path, 'result.json');
    await writeFile(file, JSON.stringify({ constants: ['no digest'] }));
    const memo = async () => ({ files: { 'result.json': file }, from: 'kept' as const });
    const model = await readModel(path);
    expect(await failureOf(() => digestInput(model, path, { memo }))).toMatchObject({ code: 'bad-part' });
  });

  it('does not take digests of another number of weights', () => {
    const model = wide(16);
    expect(digestLargeConstants(model)).toHaveLength(1);
    const fresh = wide(16);
    takeConstantDigests(fresh, Array<Digest>(2).fill('0'.repeat(64) as Digest));
    expect(digestModelContent(fresh)).toBe(digestModelContent(model));
  });
});
