/** Measures where the error of each value comes from: from its own step, or from the values that the step reads. */
import { getDefined } from '../../base/invariant.js';
import type { Json } from '../../base/json.js';
import { anyList, number, object, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import type { ValueId } from '../../onnx/ir/model.js';
import { type CaptureOptions, openCapture } from '../../runtime/capture/capture.js';
import type { NamedTensors } from '../../runtime/session/model-inputs.js';
import type { Tensor } from '../../tensor/tensor.js';
import { parseKept } from '../integers/parse-kept.js';
import { QuantError } from '../integers/quant-error.js';
import { sumErrors, sumReached } from './error-sums.js';
import type { SteppedModels } from './find-steps.js';
import { makeFlowModel, type Probe } from './flow-model.js';
import { SENSITIVITY_DOCUMENT } from './report-schema.js';

const STEP_ERROR = object({
  value: text('Name in the float model.'),
  signal: number({ minimum: 0 }, 'Squares of the float value.'),
  noise: number({ minimum: 0 }, 'Squares of the error.'),
  own: number({ minimum: 0 }, 'Squares of the own error.'),
  ownPart: number({}, 'Own error times error.'),
  readParts: anyList(number(), 'Per value that the step reads: what its error changes, times error. With `ownPart` they sum to `noise`.'),
});

/** Sums over all elements and samples. The error of a value is quantized minus float; the own error is what the step adds to the errors that it reads. */
export type StepError = FromSchema<typeof STEP_ERROR>;

/** By the value of the float model; only float32 values. */
export type StepErrors = ReadonlyMap<ValueId, StepError>;

/** Both models and the steps of the third take some 100 MB of values at a time. */
const PIECES: CaptureOptions = { budgetBytes: 64 << 20, freeDim: 50 };

/** @param samples inputs by the names of the quantized model. @throws QuantError `not-finite`, `layers-differ`; RuntimeError `model-load`, `model-run`. */
export async function measureStepErrors(
  models: SteppedModels,
  samples: readonly (() => Promise<NamedTensors>)[],
  progress: (sample: number) => void = () => undefined,
): Promise<StepErrors> {
  const { model, probes } = makeFlowModel(models);
  const capture = openCapture(model, PIECES);
  const sums = new Map<ValueId, StepError>();
  try {
    for (const [index, sample] of samples.entries()) {
      progress(index);
      const held = holdProbes(probes);
      await capture.run(await sample(), ({ id }, tensor) => {
        for (const { probe, values } of held.add(id, tensor)) {
          const before = sums.get(probe.step.value.id);
          const own = sumProbe(probe, values);
          sums.set(probe.step.value.id, before === undefined ? own : addErrors(before, own));
        }
      });
    }
  } finally {
    await capture.close();
  }
  return new Map(probes.map(({ step: { value } }) => [value.id, checkFinite(getDefined(sums.get(value.id), 'errors of a step'))]));
}

type Values = ReadonlyMap<ValueId, Tensor>;

const valuesOf = ({ float, quantized, partial }: Probe): readonly ValueId[] => [...new Set([float, quantized, ...partial])];

/** Keeps the values of a run until all of a probe have come. */
function holdProbes(probes: readonly Probe[]) {
  const waiting = new Map<ValueId, Set<Probe>>();
  for (const probe of probes) {
    for (const id of valuesOf(probe)) waiting.set(id, (waiting.get(id) ?? new Set()).add(probe));
  }
  const missing = new Map(probes.map(probe => [probe, valuesOf(probe).length]));
  const values = new Map<ValueId, Tensor>();
  const release = (probe: Probe): void => {
    for (const id of valuesOf(probe)) {
      const readers = waiting.get(id);
      readers?.delete(probe);
      if (readers?.size === 0) values.delete(id);
    }
  };
  return {
    /** The probes that are complete with this value. Their values are dropped with the next one. */
    *add(id: ValueId, tensor: Tensor): Generator<{ readonly probe: Probe; readonly values: Values }> {
      const readers = [...(waiting.get(id) ?? [])];
      if (readers.length > 0) values.set(id, tensor);
      for (const probe of readers) {
        const left = (missing.get(probe) ?? 0) - 1;
        missing.set(probe, left);
        if (left > 0) continue;
        yield { probe, values };
        release(probe);
      }
    },
  };
}

function sumProbe({ step: { value }, float, quantized, partial }: Probe, values: Values): StepError {
  const expected = numbersOf(values, float);
  const get = (id: ValueId): Float32Array => {
    const numbers = numbersOf(values, id);
    if (numbers.length === expected.length) return numbers;
    throw new QuantError(
      'layers-differ',
      `value "${value.name}" has ${expected.length} elements in float, but ${numbers.length} on quantized inputs`,
      {
        help: 'connect the float model that was quantized; a network whose shapes depend on its values cannot be compared',
      },
    );
  };
  const actual = get(quantized);
  const sums = sumErrors(expected, actual, get(partial.at(-1) ?? float));
  const reached = partial.map((id, index) =>
    index === partial.length - 1 ? sums.noise - sums.ownPart : sumReached(expected, actual, get(id)),
  );
  return { value: value.name, ...sums, readParts: reached.map((sum, index) => sum - (reached[index - 1] ?? 0)) };
}

function numbersOf(values: Values, id: ValueId): Float32Array {
  const tensor = getDefined(values.get(id), 'value of a probe');
  if (tensor.dtype === 'float32') return tensor.data;
  throw new QuantError('layers-differ', `a value is ${tensor.dtype} in one of the models, not float32`, {
    help: 'connect the float model that was quantized',
  });
}

function addErrors(a: StepError, b: StepError): StepError {
  return {
    value: a.value,
    signal: a.signal + b.signal,
    noise: a.noise + b.noise,
    own: a.own + b.own,
    ownPart: a.ownPart + b.ownPart,
    readParts: a.readParts.map((part, index) => part + (b.readParts[index] ?? 0)),
  };
}

function checkFinite(error: StepError): StepError {
  const { value, signal, noise, own, ownPart, readParts } = error;
  if ([signal, noise, own, ownPart, ...readParts].every(Number.isFinite)) return error;
  throw new QuantError('not-finite', `value "${value}" has NaN or infinite elements in one of the models`, {
    help: 'look for a division by zero or an overflow before it',
  });
}

export function listStepErrors({ steps }: SteppedModels, errors: StepErrors): readonly StepError[] {
  return [...steps.keys()].flatMap(id => errors.get(id) ?? []);
}

const reader = readerOf(anyList(STEP_ERROR));

/** The errors that a stage kept. @throws QuantError `bad-sensitivity-report`. */
export function parseStepErrors({ steps }: SteppedModels, json: Json): StepErrors {
  const byName = new Map(parseKept(json, reader, SENSITIVITY_DOCUMENT).map(error => [error.value, error]));
  return new Map(
    [...steps].flatMap(([id, { value }]) => {
      const error = byName.get(value.name);
      return error === undefined ? [] : [[id, error] as const];
    }),
  );
}
