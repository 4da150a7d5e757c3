/** Shape inference of recurrent layers and attention. (ONNX RNN, GRU, LSTM; Attention, RotaryEmbedding, opsets 23 and 24.) */
import { getInt } from '../../ir/attribute.js';
import type { Dim } from '../../ir/model.js';
import { addDims, divideDims, multiplyDims } from '../context/dims.js';
import { type InferFunction, type InferTable, known, type NodeContext } from '../context/node-context.js';

const recurrent: InferFunction = c => {
  const x = c.dims(0);
  const batchFirst = getInt(c.node, 'layout', 0) !== 0;
  const [sequence, batch] = batchFirst ? [x?.[1], x?.[0]] : [x?.[0], x?.[1]];
  const directions = c.dims(1)?.[0];
  const hidden = c.node.attributes.has('hidden_size') ? getInt(c.node, 'hidden_size', 0) : c.dims(2)?.[2];
  const all = batchFirst ? [batch, sequence, directions, hidden] : [sequence, directions, batch, hidden];
  const last = batchFirst ? [batch, directions, hidden] : [directions, batch, hidden];
  return c.node.outputs.map((_, index) => known(c.dtype(0), index === 0 ? all : last));
};

interface Heads {
  readonly batch: Dim;
  readonly heads: Dim;
  readonly length: Dim;
  readonly size: Dim;
}

/** Reads [batch, heads, length, size], or [batch, length, heads · size] with the number of heads in an attribute. */
function readHeads(c: NodeContext, index: number, attribute: string): Heads | undefined {
  const dims = c.dims(index);
  if (dims?.length === 4) return { batch: dims[0], heads: dims[1], length: dims[2], size: dims[3] };
  if (dims?.length !== 3) return undefined;
  const heads = c.node.attributes.has(attribute) ? getInt(c.node, attribute, 0) : undefined;
  return { batch: dims[0], heads, length: dims[1], size: divideDims(dims[2], heads) };
}

const attention: InferFunction = c => {
  const q = readHeads(c, 0, 'q_num_heads');
  const k = readHeads(c, 1, 'kv_num_heads');
  const v = readHeads(c, 2, 'kv_num_heads');
  if (q === undefined || k === undefined || v === undefined) return c.node.outputs.map(() => known(c.dtype(0), undefined));
  const past = c.has(4) ? c.dims(4)?.[2] : 0;
  const total = addDims(past, k.length);
  const result = c.dims(0)?.length === 4 ? [q.batch, q.heads, q.length, v.size] : [q.batch, q.length, multiplyDims(q.heads, v.size)];
  const outputs = [result, [k.batch, k.heads, total, k.size], [v.batch, v.heads, total, v.size], [q.batch, q.heads, q.length, total]];
  return c.node.outputs.map((_, index) => known(index === 2 ? c.dtype(2) : c.dtype(index === 1 ? 1 : 0), outputs[index]));
};

export const SEQUENCE_MODELS: InferTable = {
  RNN: recurrent,
  GRU: recurrent,
  LSTM: recurrent,
  Attention: attention,
  RotaryEmbedding: c => [known(c.dtype(0), c.dims(0))],
  TensorScatter: c => [known(c.dtype(0), c.dims(0))],
};
