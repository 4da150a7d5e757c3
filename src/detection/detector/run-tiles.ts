/** Runs a part whose RoIs lie as tiles on canvases. */
import { getDefined } from '../../base/invariant.js';
import { type CanvasValue, canvasDims } from '../../onnx/tiles/canvas.js';
import type { Session } from '../../runtime/session/session.js';
import { makeTensor, type Tensor } from '../../tensor/tensor.js';
import { DetectionError } from '../error/detection-error.js';
import { fillMask, packTiles, unpackTiles } from '../tiles/pack-tiles.js';
import type { PartTiles, TileStep } from '../tiles/part-tiles.js';
import type { RoiPart } from './detector-part.js';
import { checkNames, getPartValue, type PartValuesByName, toFloats } from './part-runner.js';

/** Runs a tiled part on any number of RoIs. `sessions` are by model. @throws DetectionError `part-values`. */
export function runnerOfTiles(
  sessions: Readonly<Record<string, Session>>,
  part: RoiPart,
  { steps }: PartTiles,
): (inputs: PartValuesByName) => Promise<PartValuesByName> {
  checkRows(part, steps);
  const runs = steps.map(step => openStep(part.name, getDefined(sessions[step.model], step.model), step));
  return async inputs => {
    let known = inputs;
    for (const run of runs) known = { ...known, ...(await run(known)) };
    return Object.fromEntries(part.values.outputs.map(name => [name, shapeRows(part, name, getDefined(known[name], name))]));
  };
}

function openStep(part: string, session: Session, step: TileStep): (known: PartValuesByName) => Promise<PartValuesByName> {
  const { grid, inputs, outputs, masks = [] } = step;
  const nameOf = ({ name }: { readonly name: string }): string => name;
  checkNames({ name: step.model, values: { inputs: [...inputs, ...masks].map(nameOf), outputs: outputs.map(nameOf) } }, session);
  const filled = masks.map(mask => [mask.name, fillMask(mask, grid)] as const);
  return async known => {
    const count = getDefined(known[inputs[0]?.name ?? '']?.dims[0], `the number of RoIs of part ${part}`);
    const rows = outputs.map(canvas => ({ canvas, data: new Float32Array(count * sizeOf(canvas)) }));
    for (let start = 0; start < count; start += grid[0] * grid[1]) {
      const packed = inputs.map(
        canvas => [canvas.name, packTiles(getDefined(known[canvas.name], canvas.name), start, canvas, grid)] as const,
      );
      const results = toFloats(part, await session.run(Object.fromEntries([...packed, ...filled]), outputs.map(nameOf)));
      for (const { canvas, data } of rows)
        unpackTiles(getPartValue(results, canvas.name, canvasDims(canvas, grid)), data, start, canvas, grid);
    }
    return Object.fromEntries(
      rows.map(({ canvas: { name, channels, tile }, data }) => [name, makeTensor('float32', [count, channels, ...tile], data)]),
    );
  };
}

/** Every value of the part and of the steps has rows of the size that the recipe states elsewhere. */
function checkRows({ name: part, values, inputs, outputs }: RoiPart, steps: readonly TileStep[]): void {
  const sizes = new Map(values.inputs.map(name => [name, productOf(inputs[name] ?? [])]));
  const problems: string[] = [];
  for (const step of steps) {
    for (const canvas of step.inputs) problems.push(...compareSize(canvas, sizes.get(canvas.name)));
    for (const canvas of step.outputs) sizes.set(canvas.name, sizeOf(canvas));
  }
  for (const name of values.outputs) {
    const size = sizes.get(name);
    if (size !== productOf(outputs[name] ?? []))
      problems.push(`"${name}" has ${size ?? 'no'} elements per RoI, the part ${productOf(outputs[name] ?? [])}`);
  }
  if (problems.length === 0) return;
  throw new DetectionError('part-values', `the tiles of part ${part} do not fit its values: ${problems.join('; ')}`, {
    details: problems,
    help: 'connect the host recipe that `tile-rois` wrote with the models',
  });
}

function compareSize(canvas: CanvasValue, size: number | undefined): readonly string[] {
  if (size === sizeOf(canvas)) return [];
  return [`"${canvas.name}" has ${sizeOf(canvas)} elements per tile, ${size === undefined ? 'but nothing gives it' : `per RoI ${size}`}`];
}

/** The rows with the shape that the host expects. */
function shapeRows({ outputs }: RoiPart, name: string, { dims, data }: Tensor<'float32'>): Tensor<'float32'> {
  return makeTensor('float32', [dims[0] ?? 0, ...getDefined(outputs[name], name)], data);
}

const productOf = (dims: readonly number[]): number => dims.reduce((product, dim) => product * dim, 1);

const sizeOf = ({ channels, tile }: CanvasValue): number => channels * tile[0] * tile[1];
