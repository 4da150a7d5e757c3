/** Networks as PyTorch exports them: their emptied constants are filled with seeded numbers of the recorded mean, deviation and bounds. */
import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Model } from '../../src/onnx/ir/model.js';
import { decodeMessage } from '../../src/onnx/proto/codec/decode-message.js';
import { encodeMessage } from '../../src/onnx/proto/codec/encode-message.js';
import { makeSchema } from '../../src/onnx/proto/codec/schema.js';
import type { AttributeProto, NodeProto, TensorProto } from '../../src/onnx/proto/generated/messages.js';
import { decodeModel } from '../../src/onnx/serde/decode-model.js';
import { fixturePath } from './fixtures.js';
import { uniform } from './generated-weights.js';

type Statistics = readonly [mean: number, deviation: number, least: number, largest: number];

/** What other tools say of an export. */
export interface WildFacts {
  readonly nodes: number;
  readonly onnxruntimeBasicNodes: number;
  readonly onnxruntimeBasicInnerNodes: number;
  readonly valuesWithShapeByOnnx: number;
  readonly macs?: number;
}

const SUFFIX = '.pb.gz';

export function listWildModels(): readonly string[] {
  return readdirSync(fixturePath('wild')).flatMap(file => (file.endsWith(SUFFIX) ? [file.slice(0, -SUFFIX.length)] : []));
}

export function readWildFacts(): Readonly<Record<string, WildFacts>> {
  return JSON.parse(readFileSync(fixturePath('wild', 'expected.json'), 'utf8')) as Readonly<Record<string, WildFacts>>;
}

/** @param name without ".pb.gz". @throws Error where a constant inside a sub-graph was emptied. */
export function readWildModel(name: string): Model {
  return decodeModel(readWildBytes(name));
}

/** The bytes of the ONNX file. */
export function readWildBytes(name: string): Uint8Array {
  const bytes = gunzipSync(readFileSync(fixturePath('wild', `${name}${SUFFIX}`)));
  const proto = decodeMessage(makeSchema([]), 'ModelProto', new Uint8Array(bytes));
  const entry = proto.metadataProps?.find(({ key }) => textOf(key) === 'stripped');
  const stripped = JSON.parse(textOf(entry?.value)) as Readonly<Record<string, Statistics>>;
  const other = Object.keys(stripped).find(key => !/^(initializer:|node:\d+:)/.test(key));
  if (other !== undefined) throw new Error(`${name}: ${other} was emptied, which is not filled here`);
  if (proto.graph === undefined) throw new Error(`${name} has no graph`);
  const fillAs = (key: string, tensor: TensorProto): TensorProto => {
    const statistics = stripped[key];
    return statistics === undefined ? tensor : fill(key, tensor, statistics);
  };
  const initializer = proto.graph.initializer?.map(tensor => fillAs(`initializer:${textOf(tensor.name)}`, tensor));
  const fillAttribute = (attribute: AttributeProto, index: number): AttributeProto =>
    attribute.t === undefined ? attribute : { ...attribute, t: fillAs(`node:${index}:${textOf(attribute.name)}`, attribute.t) };
  const node = proto.graph.node?.map((each, index): NodeProto => {
    const attribute = each.attribute?.map(entry => fillAttribute(entry, index));
    return attribute === undefined ? each : { ...each, attribute };
  });
  const graph = { ...proto.graph, ...(initializer === undefined ? {} : { initializer }), ...(node === undefined ? {} : { node }) };
  return encodeMessage('ModelProto', { ...proto, graph });
}

function fill(key: string, tensor: TensorProto, [mean, deviation, least, largest]: Statistics): TensorProto {
  const count = Array.from(tensor.dims ?? [], Number).reduce((product, dim) => product * dim, 1);
  const spread = Math.sqrt(3) * deviation;
  const drawn = uniform(key.replace(/^initializer:/, ''), count);
  const values = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    const value = mean + spread * (drawn[i] ?? 0);
    values[i] = value < least ? least : value > largest ? largest : value;
  }
  return { ...tensor, rawData: new Uint8Array(values.buffer) };
}

function textOf(value: string | Uint8Array | undefined): string {
  return typeof value === 'string' ? value : new TextDecoder().decode(value ?? new Uint8Array());
}
