/** The files of a folder of dumped tensors, matched with the values of a model by their names. */
import { readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { codeOrText } from '../../../base/system-error.js';
import { findClosest } from '../../../base/text/did-you-mean.js';
import type { ValueId } from '../../../onnx/ir/model.js';
import { QuantError } from '../../../quant/integers/quant-error.js';
import { type DumpedSteps, decodeRawDump, type Layout, toSteps } from '../../../quant/simulate/dumps/dumped-tensor.js';
import type { QuantizedValue } from '../../../quant/simulate/dumps/quantized-values.js';
import { type ModelInput, pickFeeds } from '../../../runtime/session/model-inputs.js';
import { decodeNpy } from '../../../tensor/formats/npy.js';
import { decodeRawTensor, makeRawTensor } from '../../../tensor/raw-tensor.js';
import type { Tensor } from '../../../tensor/tensor.js';
import { TensorError } from '../../../tensor/tensor-error.js';
import { readBounded } from './board-files.js';

export interface DumpFolder {
  readonly dumps: ReadonlyMap<ValueId, DumpedSteps>;
  readonly inputs: Readonly<Record<string, Tensor>>;
  /** Files with no value of the model. */
  readonly unknown: readonly string[];
}

export interface DumpNames {
  readonly values: readonly QuantizedValue[];
  readonly inputs: readonly ModelInput[];
  readonly layout: Layout;
}

const FORMS = /\.(?:npy|bin|raw)$/;
const MOST_FILES = 20_000;

/**
 * A file is named after its tensor: the quantized value, the same in float before or after it, or an input of the model. Characters that a file name cannot
 * have may be replaced by "_", and "/" may be a folder.
 * @throws QuantError `dump-folder`, `dump-name`, `dump-shape`, `dump-type`, `dump-file`; RuntimeError `sample-mismatch`; TargetError of reading.
 */
export async function readDumpFolder(folder: string, { values, inputs, layout }: DumpNames): Promise<DumpFolder> {
  const listed = await readdir(folder, { recursive: true, withFileTypes: true }).catch((cause: unknown) => {
    throw new QuantError('dump-folder', `${folder} cannot be read: ${codeOrText(cause)}`, {
      cause,
      help: 'name the folder with the dumped tensors',
    });
  });
  const files: string[] = [];
  for (const entry of listed) {
    if (!FORMS.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() || (entry.isSymbolicLink() && (await isFile(path)))) files.push(path);
  }
  files.sort();
  if (files.length === 0 || files.length > MOST_FILES)
    throw new QuantError('dump-folder', `${folder} has ${files.length} files .npy, .bin or .raw; expected 1 to ${MOST_FILES}`, {
      help: 'name the folder with the tensors of one run',
    });
  const byName = indexNames(values, inputs);
  const dumps = new Map<ValueId, DumpedSteps>();
  const fed: Record<string, Tensor> = {};
  const unknown: string[] = [];
  for (const path of files) {
    const name = relative(folder, path).replace(FORMS, '');
    const owner = byName.get(name) ?? byName.get(toFileName(name));
    if (owner === 'several')
      throw new QuantError('dump-name', `${path}: several tensors of the model have this name as a file name`, {
        help: 'name the file after the output of QuantizeLinear',
      });
    if (owner === undefined) unknown.push(name);
    else if (owner.kind === 'input' && Object.hasOwn(fed, owner.input.name))
      throw new QuantError('dump-name', `${path}: another file has the same input "${owner.input.name}"`, { help: 'keep one of them' });
    else if (owner.kind === 'input') fed[owner.input.name] = await readInput(path, owner.input);
    else if (dumps.has(owner.value.id))
      throw new QuantError('dump-name', `${path}: another file has the same value "${owner.value.name}"`, { help: 'keep one of them' });
    else dumps.set(owner.value.id, toSteps(await readValue(path, owner.value, layout), owner.value, layout));
  }
  if (dumps.size === 0) throw noneKnown(folder, unknown, [...byName.keys()]);
  return { dumps, inputs: fed, unknown };
}

type Owner = { readonly kind: 'value'; readonly value: QuantizedValue } | { readonly kind: 'input'; readonly input: ModelInput };

/** Exact names win over file names, and a float input of the model over the same tensor quantized. */
function indexNames(values: readonly QuantizedValue[], inputs: readonly ModelInput[]): ReadonlyMap<string, Owner | 'several'> {
  const exact = new Map<string, Owner>();
  for (const value of values) for (const name of [value.name, ...value.aliases]) exact.set(name, { kind: 'value', value });
  for (const value of values) exact.set(value.name, { kind: 'value', value });
  for (const input of inputs) exact.set(input.name, { kind: 'input', input });
  const all = new Map<string, Owner | 'several'>(exact);
  for (const [name, owner] of exact) {
    const file = toFileName(name);
    const other = all.get(file);
    if (file !== name) all.set(file, other === undefined || isSame(other, owner) ? owner : exact.has(file) ? other : 'several');
  }
  return all;
}

function isSame(a: Owner | 'several', b: Owner): boolean {
  if (a === 'several' || a.kind !== b.kind) return false;
  return a.kind === 'value' && b.kind === 'value' ? a.value === b.value : a.kind === 'input' && b.kind === 'input' && a.input === b.input;
}

function toFileName(name: string): string {
  return name.replace(/[^A-Za-z0-9._-]/g, '_');
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    found => found.isFile(),
    () => false,
  );
}

async function readValue(path: string, value: QuantizedValue, layout: Layout): Promise<Tensor> {
  const bytes = await readDump(path);
  return decodeFile(path, () => (path.endsWith('.npy') ? decodeNpy(bytes) : decodeRawDump(bytes, value, layout)));
}

/** An input of the model as the model takes it. @throws QuantError `dump-shape`, `dump-file`; RuntimeError `sample-mismatch`. */
async function readInput(path: string, input: ModelInput): Promise<Tensor> {
  const { name, dtype, dims } = input;
  const bytes = await readDump(path);
  if (path.endsWith('.npy')) {
    const tensor = decodeFile(path, () => decodeNpy(bytes));
    pickFeeds([input], { [name]: tensor }, path);
    return tensor;
  }
  const fixed = dims?.filter(dim => typeof dim === 'number');
  if (dtype === undefined || dtype === 'string' || fixed === undefined || fixed.length !== dims?.length)
    throw new QuantError('dump-shape', `${path}: the model does not fix type and shape of its input "${name}"`, {
      help: 'save it as .npy',
    });
  return decodeFile(path, () => decodeRawTensor(makeRawTensor(dtype, fixed, bytes)));
}

function readDump(path: string): Promise<Uint8Array> {
  return readBounded(path, 'dump the tensor of one image');
}

/** @throws QuantError `dump-file`. */
function decodeFile(path: string, decode: () => Tensor): Tensor {
  try {
    return decode();
  } catch (cause) {
    if (!(cause instanceof TensorError)) throw cause;
    throw new QuantError('dump-file', `${path} cannot be read: ${cause.message}`, { cause, help: 'dump it again, as integers or float32' });
  }
}

function noneKnown(folder: string, unknown: readonly string[], names: readonly string[]): QuantError {
  const [first = ''] = unknown;
  const closest = findClosest(first, names);
  return new QuantError('dump-name', `no file of ${folder} has the name of a quantized value of the model; the first is "${first}"`, {
    details: unknown.slice(0, 20),
    help: closest === undefined ? 'name files after tensors of the quantized model' : `did you mean "${closest}"?`,
  });
}
