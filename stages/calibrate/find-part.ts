/** Finds the part of the detector that a model is: the named part, or the one with the model's inputs. */
import type { DetectorPart } from '../../src/detection/detector/detector-part.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { StageError } from '../../src/stage/stage-error.js';

/** @throws StageError `part-unknown` if `wanted` is not a part, or no part fits; `part-mismatch` if the named part has other inputs. */
export function findPart(model: Model, parts: readonly DetectorPart[], wanted: string | undefined): DetectorPart {
  const inputs = inputNames(model);
  if (wanted === undefined) {
    const found = parts.find(({ values }) => sameNames(values.inputs, inputs));
    if (found !== undefined) return found;
    throw new StageError('part-unknown', `no part of the recipe has the inputs ${inputs.join(', ')}`, {
      help: `choose one of ${describeParts(parts)}`,
    });
  }
  const part = parts.find(({ name }) => name === wanted);
  if (part === undefined) {
    throw new StageError('part-unknown', `the recipe has no part "${wanted}"`, { help: `choose one of ${describeParts(parts)}` });
  }
  // Names may have been changed, but not the number of inputs.
  if (inputs.length !== part.values.inputs.length) {
    throw new StageError(
      'part-mismatch',
      `the model has the inputs ${inputs.join(', ')}, but part "${part.name}" has ${part.values.inputs.join(', ')}`,
      {
        help: 'connect the model of this part',
      },
    );
  }
  return part;
}

function inputNames({ graph }: Model): string[] {
  return graph.inputs.flatMap(id => {
    const value = graph.values.get(id);
    return value === undefined || value.constant !== undefined ? [] : [value.name];
  });
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every(name => b.includes(name));
}

function describeParts(parts: readonly DetectorPart[]): string {
  return parts.map(({ name, values }) => `${name} (${values.inputs.join(', ')})`).join(', ');
}
