/** Calibration samples from captured tensors: the inputs of one captured part, checked against the index and the model. */
import { getDefined } from '../../src/base/invariant.js';
import type { Model } from '../../src/onnx/ir/model.js';
import type { CapturedPart, CapturedSample, CapturedValue } from '../../src/runtime/capture/capture-index.js';
import { type Captured, openCaptured } from '../../src/runtime/capture/captured.js';
import { findCapturedPart, matchCapturedInputs, takeFirstCaptured } from '../../src/runtime/capture/captured-part.js';
import { checkFeed, listModelInputs, type ModelInput } from '../../src/runtime/session/model-inputs.js';
import { makeTurns } from '../../src/stage/in-turn.js';
import { type CalibrationSamples, type SampleInput, tooFewRows } from './calibration-sample.js';
import type { CalibrateParams } from './params.js';

/** @throws RuntimeError `bad-capture`, `capture-part`, `part-unknown`, `part-mismatch`, `too-few-samples`; with each sample `capture-mismatch`, `sample-mismatch`. */
export async function openCapturedSamples(folder: string, model: Model, params: CalibrateParams): Promise<CalibrationSamples> {
  const captured = await openCaptured(folder);
  const inputs = listModelInputs(model);
  const part = findCapturedPart(captured.index, inputs, params.part);
  const values = matchCapturedInputs(part, inputs);
  const samples = takeFirstCaptured(captured.index.samples, params.samples);
  const inTurn = makeTurns();
  return {
    part: part.name,
    samples: samples.map(sample => ({
      id: sample.id,
      source: sample.source,
      label: `sample ${sample.id} (${sample.source})`,
      find: () => inTurn(() => findCaptured({ captured, sample, part, values, inputs, rois: params.rois })),
    })),
  };
}

interface CapturedRequest {
  readonly captured: Captured;
  readonly sample: CapturedSample;
  readonly part: CapturedPart;
  /** In the order of `inputs`. */
  readonly values: readonly CapturedValue[];
  readonly inputs: readonly ModelInput[];
  readonly rois: CalibrateParams['rois'];
}

async function findCaptured({ captured, sample, part, values, inputs, rois }: CapturedRequest): Promise<SampleInput> {
  const { path, file, rows: captures } = captured.locate(sample, part.name);
  const isRagged = values.some(({ dims }) => dims[0] === 'rows');
  const rows = isRagged ? Math.min(captures, rois.max) : captures;
  if (rows === 0 || (isRagged && rows < rois.min)) return tooFewRows(rows, rois.min);
  const tensors = await captured.read(sample, part.name, 'input');
  for (const [index, input] of inputs.entries()) {
    const { name } = getDefined(values[index], 'value');
    // Batches of RoIs may differ from the declared size: calibration runs the model by segments, without declared sizes.
    const stated = isRagged ? { ...input, dims: input.dims && [undefined, ...input.dims.slice(1)] } : input;
    checkFeed(stated, getDefined(tensors[name], name), file);
  }
  return { kind: 'input', file: { path, feeds: { arrays: values.map(value => value.array), rows: rows < captures ? rows : null } }, rows };
}
