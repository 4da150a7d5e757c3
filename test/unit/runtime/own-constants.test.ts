/** Models whose layers share int8 constants get constants of their own, with the same results: in files with external data, and in subgraphs. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { decodeModel } from '../../../src/onnx/serde/decode-model.js';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { encodeWithOwnConstants } from '../../../src/runtime/session/own-constants.js';
import { temporaryFolder } from '../../support/run-stage.js';
import { runSharedInt8, SHARED_INT8, sharedInt8Of } from '../../support/shared-int8-models.js';

const folder = await temporaryFolder('own-constants');
afterAll(folder.remove);

it.each(Object.entries(SHARED_INT8))('two layers that share %s', async (_, text) => {
  const bytes = encodeModel(parseModelText(text));
  const own = await encodeWithOwnConstants(bytes);
  expect(sharedInt8Of(decodeModel(own))).toEqual([]);
  const expected = await runSharedInt8(bytes, 'float');
  expect(await runSharedInt8(own, 'float')).toEqual(expected);
  expect(await runSharedInt8(own, 'integers')).toEqual(expected);
});

it('a file with external data is read with them, and refused without', async () => {
  const model = parseModelText(SHARED_INT8['one dequantization'] ?? '');
  const path = join(folder.path, 'model.onnx');
  await writeModel(path, model, { externalData: { file: 'model.data', thresholdBytes: 0 } });
  expect(await runSharedInt8(await encodeWithOwnConstants(path), 'integers')).toEqual(await runSharedInt8(encodeModel(model), 'float'));
  rmSync(join(folder.path, 'model.data'));
  await expect(encodeWithOwnConstants(path)).rejects.toMatchObject({ code: 'external-data-missing' });
});
