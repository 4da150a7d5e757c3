/** How far are two forms of a detector's parts from each other, value by value? Each part of the candidate is fed what the reference's parts got. */
import { type Comparison, compareArrays } from '../../tensor/compare.js';
import { formatShape, sameShape } from '../../tensor/shape.js';
import type { Tensor } from '../../tensor/tensor.js';
import { DetectionError } from '../detection-error.js';
import type { MaskRcnnPart } from '../recipe.js';
import { type Detector, type ImageTrace, runRoiHead } from './detector.js';
import type { PartValuesByName } from './part-runner.js';

/** Comparisons by the recipe's value names. */
export type ValueComparisons = ReadonlyMap<string, Comparison>;

/** What one side needs to run its parts on inputs that are given. */
export type PartSide = Pick<Detector, 'recipe' | 'config' | 'run'>;

/** Runs a part of `side` on `input`, a head in batches of the recipe's size. */
export function runPart(side: PartSide, part: MaskRcnnPart, input: Tensor<'float32'>): Promise<PartValuesByName> {
  return part === 'backbone' ? side.run(part, input) : runRoiHead(side, part, input);
}

/** All outputs of all parts for one image; `backbone` are the candidate's own outputs, which its detections are then found from. */
export async function compareParts(
  trace: ImageTrace,
  candidate: PartSide,
): Promise<{ values: ValueComparisons; backbone: PartValuesByName }> {
  const backbone = await runPart(candidate, 'backbone', trace.image.tensor);
  const boxHead = await runPart(candidate, 'box_head', trace.boxFeatures);
  const maskHead = await runPart(candidate, 'mask_head', trace.maskFeatures);
  const values = new Map([
    ...compareValues(trace.backbone, backbone),
    ...compareValues(trace.boxHead, boxHead),
    ...compareValues(trace.maskHead, maskHead),
  ]);
  return { values, backbone };
}

/** Every value of `reference` against the candidate's of the same name. @throws DetectionError `part-values` where one is missing or has another shape. */
export function compareValues(reference: PartValuesByName, candidate: PartValuesByName): ValueComparisons {
  return new Map(
    Object.entries(reference).map(([name, tensor]) => {
      const other = candidate[name];
      if (other === undefined || !sameShape(other.dims, tensor.dims)) {
        const found = other === undefined ? 'absent' : formatShape(other.dims);
        throw new DetectionError(
          'part-values',
          `value "${name}" is ${formatShape(tensor.dims)} in the reference and ${found} in the candidate`,
        );
      }
      return [name, compareArrays(tensor.data, other.data)];
    }),
  );
}
