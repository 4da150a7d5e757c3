/** Rewrites a head that runs rows, one RoI each, into one that runs tiles of one canvas: the batch becomes space. */
import { getDefined, invariant } from '../../base/invariant.js';
import { cloneModel } from '../ir/clone.js';
import { findValueByName, getValue } from '../ir/edit.js';
import type { Model, ValueId } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { sortTopologically } from '../ir/sort.js';
import { freeInitializersOf, hoistConstants } from '../passes/constants.js';
import { removeDeadFrom } from '../passes/remove-dead.js';
import { formatDims } from '../shape-inference/context/node-context.js';
import { inferShapes, writeTypes } from '../shape-inference/infer-shapes.js';
import { type Canvas, type CanvasValue, canvasDims } from './canvas.js';
import { choosePitch } from './choose-pitch.js';
import { type MaskForm, makeGapClearer } from './clear-gaps.js';
import { planTiles } from './plan-tiles.js';
import { rewriteNodes } from './rewrite-nodes.js';
import { makeTileEditor } from './tile-editor.js';
import type { Pair } from './tile-facts.js';

export interface TileOptions {
  /** Rows of tiles, and tiles in a row. One call serves rows · columns RoIs. */
  readonly grid: Pair<number>;
  readonly mask: MaskForm;
  /** Strides that a Conv may have which replaces a Gemm on whole tiles. With 'any' the stride is the pitch; else the largest listed divisor of the pitch. */
  readonly strides: 'any' | readonly number[];
  /** Pitch of the inputs. Default: the smallest possible one. */
  readonly pitch?: Pair<number> | undefined;
}

export interface TiledModel {
  readonly model: Model;
  readonly inputs: readonly CanvasValue[];
  readonly outputs: readonly CanvasValue[];
  /** Inputs that the host fills with ones inside the tiles and zeros between them; only with `mask: input`. */
  readonly masks: readonly CanvasValue[];
}

/**
 * The tiled form of `model`, float or QDQ, which is not changed. Inputs and outputs keep their names; their shapes become those of canvases.
 * Every row gets the results that it has alone: positions between tiles are zero wherever a window reads them.
 *
 * @throws OnnxError `tiles-input`, `tiles-refused` with the reason of every node, `tiles-pitch`; of shape inference.
 */
export function tileRois(model: Model, options: TileOptions): TiledModel {
  if (options.grid.some(size => !Number.isInteger(size) || size < 1)) {
    throw new OnnxError('tiles-grid', `a grid of ${options.grid.join(' × ')} tiles is not possible; expected two whole numbers from 1`);
  }
  const tiled = cloneModel(model);
  freeInitializersOf(tiled);
  hoistConstants(tiled.graph);
  sortTopologically(tiled.graph);
  writeTypes(tiled, inferShapes(tiled));
  const plan = planTiles(tiled);
  const { grid, mask, strides } = options;
  const editor = makeTileEditor(tiled);
  const canvases = rewriteNodes(editor, { plan, grid, strides, pitch: choosePitch(plan.needs, options.pitch) });
  const canvasOf = (id: ValueId): Canvas => getDefined(canvases.get(id), editor.nameOf(id));
  const describe = (id: ValueId): CanvasValue => ({ name: editor.nameOf(id), ...canvasOf(id) });
  const inputs = tiled.graph.inputs.map(describe);
  const outputs = tiled.graph.outputs.map(describe);
  const gaps = makeGapClearer(editor, grid, mask);
  for (const id of plan.cleared) gaps.clear(id, canvasOf(id));
  finish(tiled, [...inputs, ...outputs], grid);
  return { model: tiled, inputs, outputs, masks: gaps.inputs };
}

/** Removes what is no longer read, and infers the shapes of the canvases. */
function finish(model: Model, ends: readonly CanvasValue[], grid: Pair<number>): void {
  const { graph } = model;
  sortTopologically(graph);
  removeDeadFrom(graph);
  const dims = new Map(ends.map(end => [end.name, canvasDims(end, grid)]));
  for (const id of graph.values.keys()) {
    const value = getValue(graph, id);
    const isInput = graph.inputs.includes(id);
    const own = dims.get(value.name);
    if (isInput && own !== undefined && value.type?.kind === 'tensor') value.type = { kind: 'tensor', dtype: value.type.dtype, dims: own };
    else if (!isInput && value.constant === undefined) value.type = undefined;
  }
  writeTypes(model, inferShapes(model));
  for (const { name, ...end } of ends) {
    const found = findValueByName(graph, name)?.type;
    const expected = canvasDims(end, grid);
    const isSame = found?.kind === 'tensor' && found.dims !== undefined && expected.every((dim, axis) => found.dims?.[axis] === dim);
    const shape = formatDims(found?.kind === 'tensor' ? found.dims : undefined);
    invariant(isSame, `value "${name}" on tiles is ${shape}, expected [${expected.join(', ')}]`);
  }
}
