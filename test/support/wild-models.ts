/** Networks as PyTorch exports them, from the shared folder: their emptied weights are filled with seeded numbers of the recorded mean, deviation and bounds. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Model } from '../../src/onnx/ir/model.js';
import { decodeMessage } from '../../src/onnx/proto/codec/decode-message.js';
import { encodeMessage } from '../../src/onnx/proto/codec/encode-message.js';
import { makeSchema } from '../../src/onnx/proto/codec/schema.js';
import type { TensorProto } from '../../src/onnx/proto/generated/messages.js';
import { decodeModel } from '../../src/onnx/serde/decode-model.js';
import { uniform } from './generated-weights.js';

type Statistics = readonly [mean: number, deviation: number, least: number, largest: number];

const INITIALIZER = 'initializer:';

/** @param name without ".pb.gz". @throws Error where other constants than initializers were emptied. */
export function readWildModel(shared: string, name: string): Model {
  const bytes = gunzipSync(readFileSync(join(shared, 'conformance/wild', `${name}.pb.gz`)));
  const proto = decodeMessage(makeSchema([]), 'ModelProto', new Uint8Array(bytes));
  const entry = proto.metadataProps?.find(({ key }) => textOf(key) === 'stripped');
  const stripped = JSON.parse(textOf(entry?.value)) as Readonly<Record<string, Statistics>>;
  const other = Object.keys(stripped).find(key => !key.startsWith(INITIALIZER));
  if (other !== undefined) throw new Error(`${name}: ${other} was emptied, which is not filled here`);
  if (proto.graph === undefined) throw new Error(`${name} has no graph`);
  const initializer = proto.graph.initializer?.map(tensor => {
    const statistics = stripped[INITIALIZER + textOf(tensor.name)];
    return statistics === undefined ? tensor : fill(tensor, statistics);
  });
  return decodeModel(
    encodeMessage('ModelProto', { ...proto, graph: { ...proto.graph, ...(initializer === undefined ? {} : { initializer }) } }),
  );
}

function fill(tensor: TensorProto, [mean, deviation, least, largest]: Statistics): TensorProto {
  const count = Array.from(tensor.dims ?? [], Number).reduce((product, dim) => product * dim, 1);
  const values = Float32Array.from(uniform(textOf(tensor.name), count), u =>
    Math.min(largest, Math.max(least, mean + Math.sqrt(3) * deviation * u)),
  );
  return { ...tensor, rawData: new Uint8Array(values.buffer) };
}

function textOf(value: string | Uint8Array | undefined): string {
  return typeof value === 'string' ? value : new TextDecoder().decode(value ?? new Uint8Array());
}
