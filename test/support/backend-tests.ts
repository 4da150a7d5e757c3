/** Recorded ONNX models and what stands beside them, read from the folder of recordings, for the conformance suite. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Constant } from '../../src/onnx/ir/model.js';
import { decodeMessage } from '../../src/onnx/proto/codec/decode-message.js';
import { WHOLE_SCHEMA } from '../../src/onnx/proto/codec/schema.js';
import { decodeTensorProto } from '../../src/onnx/serde/tensor-proto.js';
import { decodeRawTensor } from '../../src/tensor/raw-tensor.js';
import type { Tensor } from '../../src/tensor/tensor.js';
import { findSharedFolder } from './shared-folder.js';

/** Absolute paths of all models below some of its folders, sorted; none where the recordings are not there. */
export function findRecordedModels(...folders: readonly string[]): string[] {
  const root = findSharedFolder();
  if (root === undefined) return [];
  return folders
    .flatMap(folder => readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(file => join(root, folder, file)))
    .filter(file => file.endsWith('.onnx'))
    .sort();
}

/** What a `.pb` file of a test holds; undefined where there is none, or no tensor in it: a sequence, an optional. */
export function readRecordedConstant(path: string): Constant | undefined {
  try {
    return decodeTensorProto(decodeMessage(WHOLE_SCHEMA, 'TensorProto', new Uint8Array(readFileSync(path))), undefined);
  } catch {
    return undefined;
  }
}

export function readRecordedTensor(path: string): Tensor | undefined {
  const constant = readRecordedConstant(path);
  return constant === undefined || 'data' in constant ? constant : decodeRawTensor(constant);
}

/** The recorded inputs or outputs of the test that a model belongs to, in order; undefined where one is no tensor. */
export function readRecordedTensors(model: string, side: 'input' | 'output'): (Tensor | undefined)[] {
  const folder = join(dirname(model), 'test_data_set_0');
  const files = existsSync(folder) ? readdirSync(folder).filter(file => file.startsWith(`${side}_`)) : [];
  return files.map((_, index) => readRecordedTensor(join(folder, `${side}_${index}.pb`)));
}

/** Absolute paths of the models of the tests that ONNX Runtime passes. */
export function findPassingTests(): string[] {
  const root = join(findSharedFolder() ?? '', 'conformance/onnx');
  const status = JSON.parse(readFileSync(join(root, 'ort-1.30-status.json'), 'utf8')) as Readonly<Record<string, { readonly ort: string }>>;
  return Object.keys(status)
    .filter(test => status[test]?.ort === 'pass')
    .map(test => join(root, test, 'model.onnx'))
    .filter(existsSync);
}

/** Every third recorded backend test, by its folder: those of which others' verdicts on mutants are recorded. */
export function listMutated(): readonly { readonly name: string; readonly path: string }[] {
  const root = join(findSharedFolder() ?? '', 'conformance/onnx');
  return findRecordedModels('conformance/onnx')
    .filter((_, index) => index % 3 === 1)
    .map(path => ({ name: relative(root, path).replace(/\/model\.onnx$/, ''), path }));
}
