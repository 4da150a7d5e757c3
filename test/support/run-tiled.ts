/** Runs a tiled model on rows as the host does, to compare it with the model that it was made of. */
import { getDefined } from '../../src/base/invariant.js';
import { fillMask, packTiles, unpackTiles } from '../../src/detection/tiles/pack-tiles.js';
import { cloneModel } from '../../src/onnx/ir/clone.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { encodeModel } from '../../src/onnx/serde/encode-model.js';
import type { TiledModel } from '../../src/onnx/tiles/tile-rois.js';
import { openSession } from '../../src/runtime/session/session.js';
import { makeTensor, type Tensor } from '../../src/tensor/tensor.js';

export type Rows = Readonly<Record<string, Tensor<'float32'>>>;

/** The outputs for each row alone, joined. */
export async function runOneByOne(model: Model, rows: Rows): Promise<Readonly<Record<string, Float32Array>>> {
  const session = await openSession(encodeModel(withBatch(model, 1)), { optimization: 'disabled' });
  try {
    const count = countOf(rows);
    const joined: Record<string, number[]> = {};
    for (let row = 0; row < count; row++) {
      const outputs = await session.run(Object.fromEntries(Object.entries(rows).map(([name, tensor]) => [name, takeRow(tensor, row)])));
      for (const [name, { data }] of Object.entries(outputs)) joined[name] = [...(joined[name] ?? []), ...(data as Float32Array)];
    }
    return Object.fromEntries(Object.entries(joined).map(([name, data]) => [name, Float32Array.from(data)]));
  } finally {
    await session.close();
  }
}

/** The outputs of the tiled model, unpacked to rows, and the number of calls. */
export async function runTiled(tiled: TiledModel, grid: readonly [number, number], rows: Rows) {
  const session = await openSession(encodeModel(tiled.model), { optimization: 'disabled' });
  try {
    const count = countOf(rows);
    const outputs = Object.fromEntries(
      tiled.outputs.map(({ name, channels, tile }) => [name, new Float32Array(count * channels * tile[0] * tile[1])]),
    );
    const masks = Object.fromEntries(tiled.masks.map(mask => [mask.name, fillMask(mask, grid)]));
    let calls = 0;
    for (let start = 0; start < count; start += grid[0] * grid[1], calls++) {
      const packed = tiled.inputs.map(canvas => [canvas.name, packTiles(getDefined(rows[canvas.name], canvas.name), start, canvas, grid)]);
      const results = await session.run({ ...Object.fromEntries(packed), ...masks });
      for (const canvas of tiled.outputs)
        unpackTiles(
          getDefined(results[canvas.name], canvas.name).data as Float32Array,
          getDefined(outputs[canvas.name], canvas.name),
          start,
          canvas,
          grid,
        );
    }
    return { outputs, calls };
  } finally {
    await session.close();
  }
}

function countOf(rows: Rows): number {
  return getDefined(Object.values(rows)[0]?.dims[0], 'rows');
}

function takeRow({ dims, data }: Tensor<'float32'>, row: number): Tensor<'float32'> {
  const size = data.length / (dims[0] ?? 1);
  return makeTensor('float32', [1, ...dims.slice(1)], data.slice(row * size, (row + 1) * size));
}

function withBatch(model: Model, batch: number): Model {
  const copy = cloneModel(model);
  for (const id of copy.graph.inputs) {
    const value = copy.graph.values.get(id);
    if (value?.type?.kind === 'tensor') value.type = { ...value.type, dims: value.type.dims?.with(0, batch) };
  }
  for (const value of copy.graph.values.values())
    if (!copy.graph.inputs.includes(value.id) && value.constant === undefined) value.type = undefined;
  return copy;
}
