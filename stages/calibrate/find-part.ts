/** Which part of the detector is a model? The one that is named, or the one whose inputs it has. */
import type { DetectorPart } from '../../src/detection/detector/detector-part.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { StageError } from '../../src/stage/stage-error.js';

/** @throws StageError `part-unknown` where `wanted` is no part, or none fits; `part-mismatch` where the named part takes other inputs. */
export function findPart(model: Model, parts: readonly DetectorPart[], wanted: string | undefined): DetectorPart {
  const inputs = inputNames(model);
  if (wanted === undefined) {
    const found = parts.find(({ values }) => sameNames(values.inputs, inputs));
    if (found !== undefined) return found;
    throw new StageError('part-unknown', `no part of the recipe takes inputs ${inputs.join(', ')}`, {
      help: `it has ${describeParts(parts)}`,
    });
  }
  const part = parts.find(({ name }) => name === wanted);
  if (part === undefined) {
    throw new StageError('part-unknown', `the recipe has no part "${wanted}"`, { help: `it has ${describeParts(parts)}` });
  }
  // Names may have been changed on the way; the number of inputs may not.
  if (inputs.length !== part.values.inputs.length) {
    throw new StageError(
      'part-mismatch',
      `the model takes ${inputs.join(', ')}, part "${part.name}" takes ${part.values.inputs.join(', ')}`,
      {
        help: 'connect the model of that part',
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
