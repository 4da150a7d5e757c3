/** The bundle's program gives models whose layers share int8 constants constants of their own, with the same results, also in subgraphs. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { decodeModel } from '../../../../src/onnx/serde/decode-model.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import { readBoardPrograms } from '../../../../src/target/bundle/board-programs.js';
import { temporaryFolder } from '../../../support/run-stage.js';
import { runSharedInt8, SHARED_INT8, sharedInt8Of } from '../../../support/shared-int8-models.js';
import { describeWithPython } from '../../../support/stub-onnxruntime.js';

const folder = await temporaryFolder('board-own-constants');
afterAll(folder.remove);
beforeAll(async () => {
  for (const { name, bytes } of await readBoardPrograms()) {
    mkdirSync(dirname(join(folder.path, name)), { recursive: true });
    writeFileSync(join(folder.path, name), bytes);
  }
});

const EDIT = `
from own_constants import give_own_constants
with open("model.onnx", "rb") as given:
    model = give_own_constants(given.read())
with open("own.onnx", "wb") as own:
    own.write(model)
`;

function edit(bytes: Uint8Array): Uint8Array {
  writeFileSync(join(folder.path, 'model.onnx'), bytes);
  execFileSync('python3', ['-c', EDIT], {
    cwd: folder.path,
    env: { PATH: process.env.PATH, PYTHONPATH: join(folder.path, 'tanren_host') },
  });
  return readFileSync(join(folder.path, 'own.onnx'));
}

describeWithPython('give_own_constants', () => {
  it.each(Object.entries(SHARED_INT8))('two layers that share %s', async (_, text) => {
    const bytes = encodeModel(parseModelText(text));
    const own = edit(bytes);
    expect(sharedInt8Of(decodeModel(own))).toEqual([]);
    const expected = await runSharedInt8(bytes, 'float');
    expect(await runSharedInt8(own, 'float')).toEqual(expected);
    expect(await runSharedInt8(own, 'integers')).toEqual(expected);
  });

  it('changes no other model', () => {
    const bytes = encodeModel(parseModelText('g (float[2] x) => (float[2] y) <int8 zero = {0}, float one = {1}> { y = Neg(x) }'));
    expect(decodeModel(edit(bytes))).toEqual(decodeModel(bytes));
  });
});
