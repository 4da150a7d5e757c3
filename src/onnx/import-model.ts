/** Import of a foreign model: overridable weights become constants, dims are pinned, ends are cut, the operator set is converted, and constants are folded. */

import { cloneModel } from './ir/clone.js';
import { getValue } from './ir/edit.js';
import type { Model, ValueId } from './ir/model.js';
import { type ConversionRecord, convertOpset } from './opset/convert-opset.js';
import { freeInitializersOf } from './passes/constants.js';
import type { SimplifyStep } from './passes/run-round.js';
import { FOLDING_PASSES, type SimplifyOptions, simplifyToFixedPoint } from './passes/simplify.js';
import { batchImages } from './surgery/batch-images.js';
import { extractSubgraph } from './surgery/extract.js';
import { assertPinned, assertPinsKnown, listPinnable, type PinRecord, type Pins, pinShapes } from './surgery/pin-shapes.js';
import { widenHalf } from './surgery/widen-half.js';

/** New inputs or outputs of a model; an absent side is not changed. */
export interface Ends {
  readonly inputs?: readonly string[];
  readonly outputs?: readonly string[];
}

/** What to do with a model with a newer operator set. */
export type Newer = 'keep' | 'lower';

export interface ImportOptions extends Pick<SimplifyOptions, 'evaluate' | 'foldLimitBytes' | 'check'> {
  readonly pins: Pins;
  readonly cut: Ends;
  /** What becomes of images without a batch, [3, height, width]. 'batch': they get a batch of 1. */
  readonly unbatched: 'keep' | 'batch';
  /** What becomes of float16. 'widen': values and weights are float32, also in the unchanged graph. */
  readonly float16: 'keep' | 'widen';
  /** The operator set that older models are raised to; newer ones are lowered to it if `newer` is 'lower'. */
  readonly opset: number;
  readonly newer: Newer;
}

export interface ImportedModel {
  readonly model: Model;
  /** The same function with the original nodes: pinned and cut, but not converted and not folded. */
  readonly unchanged: Model;
  /** Names of weights that were listed as inputs. */
  readonly freed: readonly string[];
  readonly pinned: readonly PinRecord[];
  /** Inputs that got a batch of 1. */
  readonly batched: readonly string[];
  /** Values and weights that were float16 and are float32. */
  readonly widened: number;
  readonly conversion: ConversionRecord;
  readonly steps: readonly SimplifyStep[];
}

/**
 * Imports `original`, which is valid and in topological order, and is not changed.
 * @throws OnnxError `no-unbatched-image`; `pin-unknown`, `pin-mismatch`, `free-dims` if inputs have free dims that are not pinned as 'free'; `unknown-value`, `cut-open`,
 *   `cut-repeated`; `opset-conversion`; what shape inference throws.
 */
export async function importModel(original: Model, options: ImportOptions): Promise<ImportedModel> {
  const { cut } = options;
  const fold = (model: Model) => simplifyToFixedPoint(model, { ...options, passes: FOLDING_PASSES });
  const whole = cloneModel(original);
  const freed = freeInitializersOf(whole);
  const widened = options.float16 === 'widen' ? widenHalf(whole) : 0;
  const pinnable = [listPinnable(whole)];
  const pinned = [...pinShapes(whole, options.pins)];
  const batched = options.unbatched === 'batch' ? batchImages(whole) : [];
  const pins = withBatch(options.pins, batched);
  const unfolded = cloneModel(whole);
  const { steps: before } = await fold(whole);

  const model = cutEnds(whole, cut);
  if (model !== whole) {
    pinnable.push(listPinnable(model));
    pinned.push(...pinShapes(model, pins));
  }
  assertPinsKnown(pins, pinnable);
  assertPinned(model, pins);
  const unchanged = withInputTypes(cutEnds(unfolded, cut), model);
  const conversion = convertOpset(model, targetOf(model, options));
  const { steps: after } = await fold(model);
  return { model, unchanged, freed, pinned, batched, widened, conversion, steps: [...before, ...after] };
}

/** Pins of images whose batch was added. */
function withBatch(pins: Pins, batched: readonly string[]): Pins {
  const shapes = Object.entries(pins.shapes).map(([name, dims]) => [name, batched.includes(name) ? [1, ...dims] : dims] as const);
  return { ...pins, shapes: Object.fromEntries(shapes) };
}

function targetOf(model: Model, { opset, newer }: ImportOptions): number {
  const own = model.opsets.get('') ?? opset;
  return own > opset && newer === 'keep' ? own : opset;
}

/** The part of `model` between the ends; `model` itself if nothing is cut. */
function cutEnds(model: Model, { inputs, outputs }: Ends): Model {
  if (inputs === undefined && outputs === undefined) return model;
  const { graph } = model;
  const nameOf = (id: ValueId): string => getValue(graph, id).name;
  return extractSubgraph(model, { inputs: inputs ?? graph.inputs.map(nameOf), outputs: outputs ?? graph.outputs.map(nameOf) });
}

/** Copies the types of cut inputs from the folded model, because they are not known in the unfolded graph. */
function withInputTypes(model: Model, known: Model): Model {
  for (const [index, id] of model.graph.inputs.entries()) {
    const other = known.graph.inputs[index];
    if (other !== undefined) getValue(model.graph, id).type = getValue(known.graph, other).type;
  }
  return model;
}
