/** Generates TypeScript for the ONNX messages: protobufjs parses onnx.proto, and this script writes an interface and a field table per message. */
import { readFileSync, writeFileSync } from 'node:fs';
import protobuf from 'protobufjs';

const from = new URL('../src/onnx/proto/onnx.proto', import.meta.url);
const to = new URL('../src/onnx/proto/generated/messages.ts', import.meta.url);

const ARRAYS = { float: 'Float32Array', double: 'Float64Array', int32: 'Int32Array', int64: 'BigInt64Array', uint64: 'BigUint64Array' };
const SCALARS = {
  float: 'number',
  double: 'number',
  int32: 'number',
  int64: 'bigint',
  uint64: 'bigint',
  string: 'string',
  bytes: 'Uint8Array',
};

const root = protobuf.parse(readFileSync(from, 'utf8'), { keepCase: false }).root;
root.resolveAll();
const found = { messages: [], enums: [] };
collect(root);

function collect(namespace) {
  for (const item of namespace.nestedArray) {
    if (item instanceof protobuf.Type) found.messages.push(item);
    if (item instanceof protobuf.Enum) found.enums.push(item);
    if (item.nestedArray) collect(item);
  }
}

/** The name of a nested message includes its parents: TypeProto.Tensor becomes TypeProtoTensor. Nested enums keep their own name. */
function nameOf(type) {
  return type.parent instanceof protobuf.Type ? nameOf(type.parent) + type.name : type.name;
}

function kindOf(field) {
  if (field.resolvedType instanceof protobuf.Enum) return 'int32';
  return field.resolvedType === null ? field.type : nameOf(field.resolvedType);
}

function typeOf(field) {
  const kind = kindOf(field);
  if (!field.repeated) return SCALARS[kind] ?? kind;
  return ARRAYS[kind] ?? `readonly ${SCALARS[kind] ?? kind}[]`;
}

function sortedFields(type) {
  return [...type.fieldsArray].sort((a, b) => a.id - b.id);
}

const lines = [
  '/** The protobuf messages of ONNX files. Generated from onnx.proto by scripts/generate-proto.mjs with protobufjs; do not edit. */',
  "import type { FieldOf, Message } from '../message.js';",
  '',
];
for (const item of found.enums) {
  lines.push(`export const ${item.name} = {`, ...Object.entries(item.values).map(([key, id]) => `  ${key}: ${id},`), '} as const;', '');
}
for (const type of found.messages) {
  lines.push(`export interface ${nameOf(type)} extends Message {`);
  for (const field of sortedFields(type)) lines.push(`  readonly ${field.name}?: ${typeOf(field)} | undefined;`);
  lines.push('}', '');
}
lines.push('export interface Messages {', ...found.messages.map(type => `  readonly ${nameOf(type)}: ${nameOf(type)};`), '}', '');
lines.push('/** The fields of each message, in field-number order. */');
lines.push('export const FIELDS: { readonly [Name in keyof Messages]: readonly FieldOf<Messages[Name], keyof Messages>[] } = {');
for (const type of found.messages) {
  lines.push(`  ${nameOf(type)}: [`);
  for (const field of sortedFields(type)) {
    const form = field.repeated ? (field.packed ? 'packed' : 'repeated') : 'single';
    lines.push(`    { id: ${field.id}, name: '${field.name}', kind: '${kindOf(field)}', form: '${form}' },`);
  }
  lines.push('  ],');
}
lines.push('};', '');
writeFileSync(to, lines.join('\n'));
