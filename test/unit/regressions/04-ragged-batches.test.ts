/** Batches of RoIs differ from image to image, and some images have none: neither crashes calibration, nor pads it. */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { digestModelContent } from '../../../src/onnx/analysis/content-digest.js';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { parseModelSketches } from '../../../src/quant/calibration/model-sketches.js';
import { describeTensors, nameArrays, openCaptureWriter } from '../../../src/runtime/capture/capture-writer.js';
import { writeNpz } from '../../../src/tensor/formats/npz.js';
import { calibrate } from '../../../stages/calibrate/stage.js';
import { failureOf } from '../../support/error-code.js';
import { givenFolder, runStage } from '../../support/run-stage.js';
import { randomConstant, randomFloats, smallModel } from '../../support/small-model.js';

const folder = givenFolder('ragged');

/** A head: RoI features in, scores out. */
const head = () =>
  smallModel({
    inputs: { rois: ['float32', ['n', 4]] },
    constants: { w: randomConstant([4, 3], 7) },
    nodes: [{ op: 'MatMul', in: ['rois', 'w'], out: ['scores'] }],
    outputs: ['scores'],
  });

async function calibrateOn(counts: readonly number[]) {
  const here = join(folder.path, counts.join('-'));
  await mkdir(here);
  const model = join(here, 'head.onnx');
  await writeModel(model, head());
  const captured = join(here, 'captured');
  const writer = await openCaptureWriter(captured, [{ name: 'head', model: digestModelContent(head()), firstAxis: 'rows' }]);
  for (const [index, rows] of counts.entries()) {
    const [inputs, outputs] = [{ rois: randomFloats([rows, 4], index + 1) }, { scores: randomFloats([rows, 3]) }];
    const path = join(here, 'sample.npz');
    await writeNpz(path, nameArrays(inputs, outputs));
    const values = describeTensors(inputs, outputs);
    await writer.add({ id: `${index}`, source: `${index}.jpg` }, { head: { path, rows, seen: rows, values } });
  }
  await writer.finish();
  const { outputs, log } = await runStage(calibrate, { params: {}, inputs: { model, captured }, folder: here });
  const sketches = parseModelSketches(JSON.parse(await readFile(outputs.sketches ?? '', 'utf8')));
  return { sketch: [...sketches.values.values()].find(({ name }) => name === 'rois')?.sketch, samples: sketches.samples, log };
}

describe('ragged batches', () => {
  it('of 5, 7 and 3 RoIs count 15', async () => {
    const { sketch, samples } = await calibrateOn([5, 7, 3]);
    expect([sketch?.count, sketch?.zeros, samples]).toEqual([15 * 4, 0, 3]);
  });

  it('of 5, 0 and 7 RoIs count 12, with a warning about the empty one', async () => {
    const { sketch, samples, log } = await calibrateOn([5, 0, 7]);
    expect([sketch?.count, sketch?.zeros, samples]).toEqual([12 * 4, 0, 2]);
    expect(log).toContain('warning: sample 1 (1.jpg) is skipped: it has 0 RoIs, fewer than 1');
  });

  it('that are all empty are an error, never a scale of 1', async () => {
    expect(await failureOf(() => calibrateOn([0, 0]))).toMatchObject({
      code: 'no-rois',
      message: expect.stringContaining('none of 2 samples'),
    });
  });
});
