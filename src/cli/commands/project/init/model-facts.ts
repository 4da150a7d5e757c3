/** The facts about a model that its pipeline file needs: its inputs and outputs, and whether it is a classifier or a detector. */
import { realpathSync } from 'node:fs';
import { dirname, relative, sep } from 'node:path';
import { isJsonObject, type Json } from '../../../../base/json.js';
import { listConstants } from '../../../../onnx/analysis/model-stats.js';
import type { Dim, Model, ValueId } from '../../../../onnx/ir/model.js';
import { findFileRange } from '../../../../onnx/serde/file-constant.js';
import { readModel } from '../../../../onnx/serde/model-file.js';

export interface Port {
  readonly name: string;
  readonly dtype: string | undefined;
  /** Undefined: unknown rank. */
  readonly dims: readonly Dim[] | undefined;
}

export interface ModelFacts {
  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
  /** Number of nodes of the main graph. */
  readonly nodes: number;
  /** The files with weights outside of the model, relative to its folder. */
  readonly weightFiles: readonly string[];
  /** Whether nodes choose what is found: their outputs have sizes that are not known before. */
  readonly isWholeDetector: boolean;
  /** The input if it is the only one and takes a picture, float32 [N, 3, H, W] or [3, H, W]; a free size is undefined. */
  readonly image:
    | { readonly name: string; readonly batch: 'some' | 'none'; readonly height: number | undefined; readonly width: number | undefined }
    | undefined;
}

const SELECTING: ReadonlySet<string> = new Set(['NonMaxSuppression', 'NonZero', 'RoiAlign']);

/** @throws OnnxError if the file is no model. */
export async function readFacts(path: string): Promise<ModelFacts> {
  const model = await readModel(path);
  const { graph } = model;
  const inputs = graph.inputs.filter(id => graph.values.get(id)?.constant === undefined).map(id => portOf(model, id));
  const outputs = graph.outputs.map(id => portOf(model, id));
  const files = new Set([...listConstants(graph)].flatMap(constant => findFileRange(constant)?.path ?? []));
  const folder = realpathSync(dirname(path));
  const weightFiles = [...files].map(file => relative(folder, file).replaceAll(sep, '/')).sort();
  const isWholeDetector = [...graph.nodes.values()].some(({ opType }) => SELECTING.has(opType));
  return { inputs, outputs, nodes: graph.nodes.size, weightFiles, isWholeDetector, image: findImage(inputs) };
}

function portOf({ graph }: Model, id: ValueId): Port {
  const value = graph.values.get(id);
  const type = value?.type?.kind === 'tensor' ? value.type : undefined;
  return { name: value?.name ?? '', dtype: type?.dtype, dims: type?.dims };
}

function findImage([input, ...others]: readonly Port[]): ModelFacts['image'] {
  const rank = input?.dims?.length;
  if ((rank !== 4 && rank !== 3) || others.length > 0 || input?.dtype !== 'float32') return undefined;
  const [channels, height, width] = input.dims?.slice(-3) ?? [];
  return channels === 3
    ? { name: input.name, batch: rank === 4 ? 'some' : 'none', height: sizeOf(height), width: sizeOf(width) }
    : undefined;
}

function sizeOf(dim: Dim): number | undefined {
  return typeof dim === 'number' && dim > 0 ? dim : undefined;
}

/** The first output with a score per class and pixel, [N, classes, H, W] at the size of the image. @returns its name, and the number of classes. */
export function findPixelClasses({ outputs, image }: ModelFacts): { readonly output: string; readonly classes: number } | undefined {
  for (const { name, dims, dtype } of outputs) {
    const [, classes, height, width] = dims ?? [];
    if (dims?.length !== 4 || dtype !== 'float32' || typeof classes !== 'number' || classes < 2) continue;
    if (typeof height === 'number' && height === image?.height && width === image.width) return { output: name, classes };
  }
  return undefined;
}

/** One output with a score per class: [N, classes], also with sizes of 1 after it. @returns the number of classes. */
export function countClasses({ outputs: [output, ...others] }: ModelFacts): number | undefined {
  if (output?.dims === undefined || output.dims.length < 2 || others.length > 0) return undefined;
  const [, classes, ...rest] = output.dims;
  return typeof classes === 'number' && classes > 1 && rest.every(dim => dim === 1) ? classes : undefined;
}

/** A value in YAML, on one line. */
export function flowOf(value: Json): string {
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return `[${value.map(flowOf).join(', ')}]`;
  if (!isJsonObject(value)) return String(value);
  return `{${Object.entries(value)
    .map(([key, field]) => `${key}: ${flowOf(field)}`)
    .join(', ')}}`;
}

/** Text as a YAML scalar on one line. */
export function quote(text: string): string {
  return /^[A-Za-z_][\w./-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text) ? text : JSON.stringify(text);
}
