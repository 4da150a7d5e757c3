/** Sums over samples that the error of a layer's output depends on: products of its inputs with each other, and with what the float layer computes. */
import { collectGarbage } from '../../../base/collect-garbage.js';
import { addInput, addNode, makeModel } from '../../../onnx/ir/edit.js';
import type { Node } from '../../../onnx/ir/model.js';
import { encodeModel } from '../../../onnx/serde/encode-model.js';
import { CAPTURE_SESSION } from '../../../runtime/capture/capture.js';
import { openSession, type Session } from '../../../runtime/session/session.js';
import { makeTensor, type Tensor } from '../../../tensor/tensor.js';
import { type InputMatrix, inputMatrixOf } from './input-matrix.js';
import type { LayerWeight } from './layer-weight.js';
import type { SquareMatrix } from './square-matrix.js';

export interface LayerSums {
  /** H = Σ x·xᵀ per group, both triangles. */
  readonly products: readonly SquareMatrix[];
  /** Σ x·y per row of the weight, without the bias in y; undefined if the outputs are not the sums of rows. */
  readonly targets: readonly Float32Array[] | undefined;
  /** The inputs themselves, a row per position, where the layer has one group and less than half as many positions as inputs. */
  readonly inputs: Float32Array | undefined;
}

export interface LayerSample {
  readonly input: Tensor;
  /** What the float layer computes. */
  readonly output: Tensor;
}

export interface SumLayer {
  add(sample: LayerSample): Promise<void>;
  readonly sums: () => LayerSums;
  close(): Promise<void>;
}

/** Larger products are freed before the next ones are computed. */
const MOST_LEFT_BYTES = 32 << 20;

/** Elements of inputs that are multiplied at a time: 16 MB. */
const BLOCK_ELEMENTS = 4 << 20;

/**
 * Products of a block of positions are by ONNX Runtime in float32; blocks and samples are added in their order.
 * @param bias one number per row; undefined: without targets.
 */
export async function openLayerSums(node: Node, weight: LayerWeight, bias: ArrayLike<number> | undefined): Promise<SumLayer> {
  const { groups, rows, columns } = weight;
  const products = new Float32Array(groups * columns * columns);
  const targets = bias === undefined ? undefined : new Float32Array(rows * columns);
  const kept = openKept(groups, columns);
  const session = await openSession(productsModel(bias !== undefined), CAPTURE_SESSION);
  return {
    async add({ input, output }) {
      const matrix = inputMatrixOf(node, weight, input);
      const most = Math.max(1, Math.floor(BLOCK_ELEMENTS / (groups * columns)));
      for (let start = 0; start < matrix.positions; start += most) {
        const length = Math.min(most, matrix.positions - start);
        const x = readBlock(matrix, weight, start, length);
        kept.add(x, length);
        const feeds = bias === undefined ? { x } : { x, y: outputsOf(output, weight, bias, start, length) };
        addTo(products, targets, await session.run(feeds));
        if (products.byteLength > MOST_LEFT_BYTES) collectGarbage();
      }
    },
    sums: () => ({
      products: Array.from({ length: groups }, (_, group) => ({ size: columns, data: slice(products, group, columns * columns) })),
      targets: targets === undefined ? undefined : Array.from({ length: rows }, (_, row) => slice(targets, row, columns)),
      inputs: kept.inputs(),
    }),
    close: session.close,
  };
}

function slice(all: Float32Array, index: number, length: number): Float32Array {
  return all.subarray(index * length, (index + 1) * length);
}

function addTo(products: Float32Array, targets: Float32Array | undefined, { h, t }: Awaited<ReturnType<Session['run']>>): void {
  addArray(products, h?.data as Float32Array);
  if (targets !== undefined) addArray(targets, t?.data as Float32Array);
}

function addArray(sum: Float32Array, added: Float32Array): void {
  for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) + (added[i] as number);
}

/** The inputs as [groups, columns, positions]. */
function readBlock(matrix: InputMatrix, { groups, columns }: LayerWeight, start: number, length: number): Tensor<'float32'> {
  const block = new Float32Array(groups * columns * length);
  for (let group = 0; group < groups; group++) matrix.read(group, start, length, block, group * columns * length);
  return makeTensor('float32', [groups, columns, length], block);
}

/** The outputs as [groups, rows of a group, positions], without the bias. */
function outputsOf({ dims, data }: Tensor, { groups, rows }: LayerWeight, bias: ArrayLike<number>, start: number, length: number) {
  const values = data as ArrayLike<number>;
  const perImage = dims.slice(2).reduce((product, dim) => product * dim, 1);
  const block = new Float32Array(rows * length);
  for (let row = 0; row < rows; row++) {
    const shift = bias[row] as number;
    for (let k = 0; k < length; k++) {
      const image = Math.floor((start + k) / perImage);
      block[row * length + k] = (values[(image * rows + row) * perImage + ((start + k) % perImage)] as number) - shift;
    }
  }
  return makeTensor('float32', [groups, rows / groups, length], block);
}

/** Keeps blocks of inputs while they are few. */
function openKept(groups: number, columns: number) {
  let blocks: Float32Array[] | undefined = groups === 1 ? [] : undefined;
  let positions = 0;
  return {
    add({ data }: Tensor<'float32'>, length: number): void {
      positions += length;
      if (2 * positions >= columns) blocks = undefined;
      blocks?.push(transpose(data, columns, length));
    },
    inputs(): Float32Array | undefined {
      if (blocks === undefined || positions === 0) return undefined;
      const all = new Float32Array(positions * columns);
      let at = 0;
      for (const block of blocks) {
        all.set(block, at);
        at += block.length;
      }
      return all;
    },
  };
}

function transpose(data: Float32Array, rows: number, columns: number): Float32Array {
  const turned = new Float32Array(data.length);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) turned[column * rows + row] = data[row * columns + column] as number;
  return turned;
}

function productsModel(withTargets: boolean): Uint8Array {
  const model = makeModel({ opset: 17, irVersion: 8, graphName: 'products' });
  const { graph } = model;
  const type = { kind: 'tensor', dtype: 'float32', dims: ['groups', 'rows', 'positions'] } as const;
  const add = (opType: string, inputs: readonly (typeof x)[], output: string, attributes = {}): typeof x => {
    const [id] = addNode(model, graph, { opType, name: output, inputs: [...inputs], outputs: [output], attributes }).outputs;
    return id as typeof x;
  };
  const x = addInput(model, graph, 'x', { ...type, dims: ['groups', 'columns', 'positions'] }).id;
  const turned = add('Transpose', [x], 'turned', { perm: { kind: 'ints', value: [0n, 2n, 1n] } });
  const outputs = [add('MatMul', [x, turned], 'h')];
  if (withTargets) outputs.push(add('MatMul', [addInput(model, graph, 'y', type).id, turned], 't'));
  graph.outputs = outputs;
  return encodeModel(model);
}
