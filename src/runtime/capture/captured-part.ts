/** Finds the captured part that a model is, and the captured values that it is fed. */
import { getDefined } from '../../base/invariant.js';
import type { ModelInput } from '../session/model-inputs.js';
import { RuntimeError } from '../session/runtime-error.js';
import type { CapturedPart, CapturedSample, CapturedValue, CaptureIndex } from './capture-index.js';

/** The part `wanted`, or the part with the names of `inputs`. @throws RuntimeError `part-unknown`. */
export function findCapturedPart(index: CaptureIndex, inputs: readonly ModelInput[], wanted: string | undefined): CapturedPart {
  const names = (part: CapturedPart) => inputValues(part).map(value => value.name);
  const listed = index.parts.map(part => `${part.name} (${names(part).join(', ')})`).join(', ');
  const found =
    wanted === undefined ? index.parts.find(part => sameNames(names(part), inputs)) : index.parts.find(part => part.name === wanted);
  if (found !== undefined) return found;
  const message =
    wanted === undefined
      ? `no captured part has the inputs ${inputs.map(({ name }) => name).join(', ')}`
      : `the captured tensors have no part "${wanted}"`;
  throw new RuntimeError('part-unknown', message, { help: `choose one of ${listed}` });
}

function sameNames(names: readonly string[], inputs: readonly ModelInput[]): boolean {
  return names.length === inputs.length && inputs.every(({ name }) => names.includes(name));
}

/** The captured value of each input: by name, or by position if the model's names were changed. @throws RuntimeError `part-mismatch`. */
export function matchCapturedInputs(part: CapturedPart, inputs: readonly ModelInput[]): readonly CapturedValue[] {
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
  throw new RuntimeError(
    'part-mismatch',
    `the model has the inputs ${inputs.map(({ name }) => name).join(', ')}, but the captured part "${part.name}" has ${values.map(({ name }) => name).join(', ')}`,
    { help: 'connect the model of this part' },
  );
}

function inputValues({ values }: CapturedPart): CapturedValue[] {
  return values.filter(({ role }) => role === 'input');
}

/** The first `count` samples; all if it is undefined. @throws RuntimeError `too-few-samples`. */
export function takeFirstCaptured(samples: readonly CapturedSample[], count: number | undefined): readonly CapturedSample[] {
  if (count === undefined || count <= samples.length) return samples.slice(0, count);
  throw new RuntimeError('too-few-samples', `samples is ${count}, but only ${samples.length} were captured`, {
    help: `set samples to at most ${samples.length}, or capture more`,
  });
}
