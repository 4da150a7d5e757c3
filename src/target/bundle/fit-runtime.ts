/** Brings a model into the IR version and operator set that the vendor's ONNX Runtime reads. */
import { CodedError } from '../../base/coded-error.js';
import { cloneModel } from '../../onnx/ir/clone.js';
import type { Model } from '../../onnx/ir/model.js';
import { sortTopologically } from '../../onnx/ir/sort.js';
import { convertOpset } from '../../onnx/opset/convert-opset.js';
import { TargetError } from '../report/target-error.js';
import { tensorOf } from '../units/unit-facts.js';
import type { RuntimeLimits } from './provider-options.js';

/** Every version of the vendor's software reads it: operator set 17 with IR version 8. */
const SAFE_OPSET = 17;

/**
 * The same model with the oldest IR version that its content allows. If its operator set is newer than the runtime's, it is converted to set 17.
 * @returns `model` itself if nothing changes.
 * @throws TargetError `runtime-too-old` if the operator set cannot be converted, or the content needs a newer IR version.
 */
export function fitRuntime(name: string, model: Model, { version, ...limits }: RuntimeLimits): Model {
  const opset = opsetOf(model);
  const isNew = opset > limits.opset;
  if (!isNew && model.irVersion <= leastIr(model)) return checkIr(name, model, limits.ir, version);
  const copy = cloneModel(model);
  if (isNew) convert(name, copy, { version, ...limits });
  copy.irVersion = Math.min(copy.irVersion, leastIr(copy));
  return checkIr(name, copy, limits.ir, version);
}

/** Whether the runtime reads the model. */
export function isReadable(model: Model, { ir, opset }: Pick<RuntimeLimits, 'ir' | 'opset'>): boolean {
  return model.irVersion <= ir && opsetOf(model) <= opset;
}

function opsetOf({ opsets }: Model): number {
  return opsets.get('') ?? opsets.get('ai.onnx') ?? 1;
}

function convert(name: string, copy: Model, { version, onnxruntime, opset }: RuntimeLimits): void {
  const own = opsetOf(copy);
  try {
    sortTopologically(copy.graph);
    convertOpset(copy, SAFE_OPSET);
  } catch (cause) {
    if (!(cause instanceof CodedError)) throw cause;
    const reader = `ONNX Runtime ${onnxruntime} of version ${version} reads operator sets up to ${opset}`;
    throw new TargetError('runtime-too-old', `model "${name}" has operator set ${own}, but ${reader}: ${cause.message}`, {
      cause,
      help: 'export the model with operator set 17, or choose a later version of the software',
    });
  }
}

function checkIr(name: string, model: Model, ir: number, version: string): Model {
  if (model.irVersion <= ir) return model;
  throw new TargetError(
    'runtime-too-old',
    `model "${name}" needs IR version ${model.irVersion}, but version ${version} reads IR versions up to ${ir}`,
    { help: 'quantize to 8-bit or 16-bit integers, or choose a later version of the software' },
  );
}

/** IR versions in which operator sets and element types appeared: ONNX, docs/Versioning.md and onnx.proto. */
const IR_OF_OPSET: readonly (readonly [opset: number, ir: number])[] = [
  [21, 10],
  [19, 9],
  [0, 8],
];
const IR_OF_TYPE: readonly (readonly [type: RegExp, ir: number])[] = [
  [/^u?int4$/, 10],
  [/^float8/, 9],
];

function leastIr(model: Model): number {
  const bySet = IR_OF_OPSET.find(([opset]) => opsetOf(model) >= opset)?.[1] ?? 8;
  const types = new Set([...model.graph.values.values()].map(({ id }) => tensorOf(model, id).dtype));
  const byType = IR_OF_TYPE.filter(([type]) => [...types].some(dtype => dtype !== undefined && type.test(dtype))).map(([, ir]) => ir);
  return Math.max(bySet, ...byType);
}
