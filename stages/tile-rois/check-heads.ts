/** Checks heads before they are rewritten: parts of the recipe that run on RoIs, and models with their inputs and outputs. */
import type { DetectorDefinition } from '../../src/detection/detector/detector-family.js';
import type { RoiPart } from '../../src/detection/detector/detector-part.js';
import { DetectionError } from '../../src/detection/error/detection-error.js';
import { getValue } from '../../src/onnx/ir/edit.js';
import type { Model, ValueId } from '../../src/onnx/ir/model.js';
import { StageError } from '../../src/stage/stage-error.js';

/** @throws StageError `part-unknown` for a name that is no part of the recipe; `tiles-refused` for a part that runs once per image. */
export function getHead({ parts }: Pick<DetectorDefinition, 'parts'>, name: string): RoiPart {
  const part = parts.find(one => one.name === name);
  const heads = parts.filter(({ rois }) => rois !== 'none').map(one => one.name);
  const help = heads.length === 0 ? 'no part of the recipe runs on RoIs' : `parts of the recipe that run on RoIs: ${heads.join(', ')}`;
  if (part === undefined) throw new StageError('part-unknown', `the recipe has no part "${name}"`, { help });
  if (part.rois === 'none') throw new StageError('tiles-refused', `part "${name}" runs once per image, not on RoIs`, { help });
  return part;
}

/** @throws DetectionError `part-values`. */
export function checkHeadModel({ name, values }: RoiPart, { graph }: Model): void {
  const namesOf = (ids: readonly ValueId[]): readonly string[] => ids.map(id => getValue(graph, id).name);
  const own = { inputs: namesOf(graph.inputs), outputs: namesOf(graph.outputs) };
  const missing = [
    ...values.inputs.filter(input => !own.inputs.includes(input)),
    ...values.outputs.filter(output => !own.outputs.includes(output)),
  ];
  if (missing.length === 0) return;
  throw new DetectionError(
    'part-values',
    `the model of head "${name}" has no ${missing.map(one => `"${one}"`).join(', ')}; it has ${[...own.inputs, ...own.outputs].join(', ')}`,
    { help: 'connect each head to its own model, without tiles' },
  );
}
