/** Calibration samples from captured tensors: the inputs of one captured part, checked against the index and the model. */
import { getDefined } from '../../src/base/invariant.js';
import type { Model } from '../../src/onnx/ir/model.js';
import type { CapturedPart, CapturedSample, CapturedValue } from '../../src/runtime/capture/capture-index.js';
import { type Captured, openCaptured } from '../../src/runtime/capture/captured.js';
import { checkFeed, listModelInputs, type ModelInput } from '../../src/runtime/session/model-inputs.js';
import { StageError } from '../../src/stage/stage-error.js';
import { type CalibrationSamples, type SampleInput, tooFewRows } from './calibration-sample.js';
import type { CalibrateParams } from './params.js';

/** @throws RuntimeError `bad-capture`, `capture-part`; StageError `part-unknown`, `part-mismatch`, `too-few-samples`; with each sample `capture-mismatch`, `sample-mismatch`. */
export async function openCapturedSamples(folder: string, model: Model, params: CalibrateParams): Promise<CalibrationSamples> {
  const captured = await openCaptured(folder);
  const inputs = listModelInputs(model);
  const part = findCapturedPart(captured, inputs, params.part);
  const values = matchInputs(part, inputs);
  const samples = takeFirst(captured.index.samples, params.samples);
  return {
    part: part.name,
    samples: samples.map(sample => ({
      id: sample.id,
      source: sample.source,
      label: `sample ${sample.id} (${sample.source})`,
      find: () => findCaptured({ captured, sample, part, values, inputs, rois: params.rois }),
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

function findCapturedPart({ index }: Captured, inputs: readonly ModelInput[], wanted: string | undefined): CapturedPart {
  const names = (part: CapturedPart) => inputValues(part).map(value => value.name);
  const listed = index.parts.map(part => `${part.name} (${names(part).join(', ')})`).join(', ');
  const found =
    wanted === undefined ? index.parts.find(part => sameNames(names(part), inputs)) : index.parts.find(part => part.name === wanted);
  if (found !== undefined) return found;
  const message =
    wanted === undefined
      ? `no captured part has the inputs ${inputs.map(({ name }) => name).join(', ')}`
      : `the captured tensors have no part "${wanted}"`;
  throw new StageError('part-unknown', message, { help: `choose one of ${listed}` });
}

function sameNames(names: readonly string[], inputs: readonly ModelInput[]): boolean {
  return names.length === inputs.length && inputs.every(({ name }) => names.includes(name));
}

/** By name, or by position if the model's names were changed. */
function matchInputs(part: CapturedPart, inputs: readonly ModelInput[]): readonly CapturedValue[] {
  const values = inputValues(part);
  if (
    sameNames(
      values.map(value => value.name),
      inputs,
    )
  )
    return inputs.map(({ name }) =>
      getDefined(
        values.find(value => value.name === name),
        name,
      ),
    );
  if (values.length === inputs.length) return values;
  throw new StageError(
    'part-mismatch',
    `the model has the inputs ${inputs.map(({ name }) => name).join(', ')}, but the captured part "${part.name}" has ${values.map(({ name }) => name).join(', ')}`,
    { help: 'connect the model of this part' },
  );
}

function inputValues({ values }: CapturedPart): CapturedValue[] {
  return values.filter(({ role }) => role === 'input');
}

function takeFirst(samples: readonly CapturedSample[], count: number | undefined): readonly CapturedSample[] {
  if (count === undefined || count <= samples.length) return samples.slice(0, count);
  throw new StageError('too-few-samples', `samples is ${count}, but only ${samples.length} were captured`, {
    help: `set samples to at most ${samples.length}, or capture more`,
  });
}
