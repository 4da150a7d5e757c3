/** Who runs the parts of a detector? Sessions of three models, or of one model that holds all parts; the same to whoever asks. */

import { invariant } from '../../base/invariant.js';
import type { Session } from '../../runtime/session.js';
import { formatShape, sameShape } from '../../tensor/shape.js';
import { makeTensor, type Tensor } from '../../tensor/tensor.js';
import { DetectionError } from '../detection-error.js';
import { MASKRCNN_PARTS, type MaskRcnnPart, type MaskRcnnRecipe } from '../recipe.js';

/** Values by the recipe's names. */
export type PartValuesByName = Readonly<Record<string, Tensor<'float32'>>>;

/** Runs one part on its input; gives all of its outputs. @throws DetectionError `part-values`, RuntimeError `model-run`. */
export type RunPart = (part: MaskRcnnPart, input: Tensor<'float32'>) => Promise<PartValuesByName>;

/** One session per part. Their inputs and outputs must have the recipe's names. @throws DetectionError `part-values`. */
export function runnerOfParts(sessions: Readonly<Record<MaskRcnnPart, Session>>, recipe: MaskRcnnRecipe): RunPart {
  const runners = {
    backbone: runnerOfPart(sessions.backbone, 'backbone', recipe),
    box_head: runnerOfPart(sessions.box_head, 'box_head', recipe),
    mask_head: runnerOfPart(sessions.mask_head, 'mask_head', recipe),
  };
  return (part, input) => runners[part](part, input);
}

/** A session of one part alone; asking for another part is a defect. @throws DetectionError `part-values`. */
export function runnerOfPart(session: Session, only: MaskRcnnPart, recipe: MaskRcnnRecipe): RunPart {
  checkNames(only, session, recipe);
  return async (part, input) => {
    invariant(part === only, `part ${part} is asked of the model of part ${only}`);
    const { inputs, outputs } = recipe.parts[part];
    return toFloats(part, await session.run({ [inputs[0] ?? '']: input }, outputs));
  };
}

/** One session of a model that has the parts' inputs and outputs together. The other parts' inputs are fed zeros, for one RoI where the batch is free. */
export function runnerOfWhole(session: Session, recipe: MaskRcnnRecipe): RunPart {
  for (const part of MASKRCNN_PARTS) checkNames(part, session, recipe);
  const idle = Object.fromEntries(MASKRCNN_PARTS.map(part => [recipe.parts[part].inputs[0] ?? '', makeIdleInput(part, recipe)]));
  return async (part, input) => {
    const { inputs, outputs } = recipe.parts[part];
    return toFloats(part, await session.run({ ...idle, [inputs[0] ?? '']: input }, outputs));
  };
}

/** The value `name` that `part` gave, of the shape wanted. @throws DetectionError `part-values`. */
export function getPartValue(values: PartValuesByName, name: string, dims: readonly number[]): Float32Array {
  const tensor = values[name];
  if (tensor === undefined) throw new DetectionError('part-values', `the detector's parts give no value "${name}"`);
  if (!sameShape(tensor.dims, dims)) {
    throw new DetectionError('part-values', `value "${name}" is ${formatShape(tensor.dims)}, the recipe makes it ${formatShape(dims)}`, {
      help: 'model, recipe and config must come from the same export',
    });
  }
  return tensor.data;
}

function checkNames(part: MaskRcnnPart, session: Session, recipe: MaskRcnnRecipe): void {
  const { inputs, outputs } = recipe.parts[part];
  const missing = [
    ...inputs.filter(name => !session.inputNames.includes(name)),
    ...outputs.filter(name => !session.outputNames.includes(name)),
  ];
  if (missing.length === 0) return;
  throw new DetectionError(
    'part-values',
    `the model of part ${part} lacks ${missing.join(', ')}; it has inputs ${session.inputNames.join(', ')} and outputs ${session.outputNames.join(', ')}`,
    {
      help: 'connect each part to its own model: backbone, box_head, mask_head',
    },
  );
}

function makeIdleInput(part: MaskRcnnPart, { image, boxHead, maskHead }: MaskRcnnRecipe): Tensor<'float32'> {
  if (part === 'backbone') return makeZeros([1, 3, image.height, image.width]);
  const head = part === 'box_head' ? boxHead : maskHead;
  return makeZeros([head.batch === 'free' ? 1 : head.batch, head.channels, head.size, head.size]);
}

function makeZeros(dims: readonly number[]): Tensor<'float32'> {
  return makeTensor('float32', dims, new Float32Array(dims.reduce((product, dim) => product * dim, 1)));
}

function toFloats(part: MaskRcnnPart, values: Readonly<Record<string, Tensor>>): PartValuesByName {
  return Object.fromEntries(
    Object.entries(values).map(([name, tensor]) => {
      if (tensor.dtype !== 'float32')
        throw new DetectionError('part-values', `value "${name}" of part ${part} is ${tensor.dtype}, float32 is wanted`);
      return [name, tensor];
    }),
  );
}
