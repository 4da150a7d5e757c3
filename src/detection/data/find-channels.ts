/** The order of an image's axes by the layers that read it, where the sizes of the input do not tell. */
import { findInts } from '../../onnx/ir/attribute.js';
import type { Model, Node, ValueId } from '../../onnx/ir/model.js';
import type { Channels } from '../image/preprocessing.js';

export interface FoundChannels {
  readonly layout: 'channels-first' | 'channels-last';
  readonly channels: Channels;
}

/** Operators that keep the axes of their first input. */
const KEEPING: ReadonlySet<string> = new Set(
  'Add BatchNormalization Cast Clip DequantizeLinear Div Identity Mul Pad QuantizeLinear Reshape Resize Sub'.split(' '),
);
const MOST_LAYERS = 64;

/** From the first convolution that reads the input, behind a Transpose if the channels are last; undefined if none is found. */
export function findChannels({ graph }: Model, input: ValueId): FoundChannels | undefined {
  const readers = listReaders(graph.nodes.values());
  const open: { readonly value: ValueId; readonly layout: FoundChannels['layout'] }[] = [{ value: input, layout: 'channels-first' }];
  for (let at = 0; at < open.length && at < MOST_LAYERS; at++) {
    const { value, layout } = open[at] as (typeof open)[number];
    for (const node of readers.get(value) ?? []) {
      if (node.opType === 'Conv' && node.inputs[0] === value) {
        const channels = countChannels(graph, node);
        return channels === undefined ? undefined : { layout, channels };
      }
      const [output] = node.outputs;
      if (output === undefined) continue;
      if (KEEPING.has(node.opType)) open.push({ value: output, layout });
      else if (node.opType === 'Transpose' && findInts(node, 'perm')?.join() === '0,3,1,2')
        open.push({ value: output, layout: 'channels-last' });
    }
  }
  return undefined;
}

function listReaders(nodes: Iterable<Node>): ReadonlyMap<ValueId, readonly Node[]> {
  const readers = new Map<ValueId, Node[]>();
  for (const node of nodes)
    for (const value of new Set(node.inputs)) {
      if (value === undefined) continue;
      const known = readers.get(value);
      if (known === undefined) readers.set(value, [node]);
      else known.push(node);
    }
  return readers;
}

function countChannels({ values }: Model['graph'], node: Node): Channels | undefined {
  const weight = node.inputs[1] === undefined ? undefined : values.get(node.inputs[1]);
  const dims = weight?.constant?.dims ?? (weight?.type?.kind === 'tensor' ? weight.type.dims : undefined);
  const group = node.attributes.get('group');
  const channels = Number(dims?.[1] ?? 0) * (group?.kind === 'int' ? Number(group.value) : 1);
  return channels === 1 || channels === 3 ? channels : undefined;
}
