/** The facts about a model that its pipeline file needs: its inputs and outputs, and whether it is a classifier or a detector. */
import { realpathSync } from 'node:fs';
import { dirname, relative, sep } from 'node:path';
import { isJsonObject, type Json } from '../../../../base/json.js';
import { type AngleColumn, findAngleColumns } from '../../../../detection/families/single/decoder/angle-columns.js';
import { listConstants } from '../../../../onnx/analysis/model-stats.js';
import type { Dim } from '../../../../onnx/ir/model.js';
import { findFileRange } from '../../../../onnx/serde/file-constant.js';
import { readModel } from '../../../../onnx/serde/model-file.js';
import { chooseSize, type FoundImage, type GivenSize, type ModelImage } from './image-size.js';
import { type Port, portOf } from './model-ports.js';

export interface ModelFacts {
  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
  /** Number of nodes of the main graph. */
  readonly nodes: number;
  /** The files with weights outside of the model, relative to its folder. */
  readonly weightFiles: readonly string[];
  /** Columns of the outputs that are angles of rotated boxes. */
  readonly angles: readonly AngleColumn[];
  /** Whether nodes choose what is found: their outputs have sizes that are not known before. */
  readonly isWholeDetector: boolean;
  /** Whether values or weights are float16: `import` widens them, and inputs and outputs are those after it. */
  readonly isHalf: boolean;
  /** The input if it is the only one and takes a picture, float32 [N, 3, H, W] or [3, H, W]. */
  readonly image: ModelImage | undefined;
}

const SELECTING: ReadonlySet<string> = new Set(['NonMaxSuppression', 'NonZero', 'RoiAlign']);

/**
 * @param given the height and width for a model that leaves them free; without it, the model is run to find one.
 * @throws OnnxError if the file is no model; EngineError `image-size` if it runs at no size that is known, or has another size than `given`.
 */
export async function readFacts(path: string, given: GivenSize | undefined): Promise<ModelFacts> {
  const model = await readModel(path);
  const { graph } = model;
  const inputs = graph.inputs.filter(id => graph.values.get(id)?.constant === undefined).map(id => widened(portOf(model, id)));
  const outputs = graph.outputs.map(id => widened(portOf(model, id)));
  const files = new Set([...listConstants(graph)].flatMap(constant => findFileRange(constant)?.path ?? []));
  const folder = realpathSync(dirname(path));
  const weightFiles = [...files].map(file => relative(folder, file).replaceAll(sep, '/')).sort();
  const isWholeDetector = [...graph.nodes.values()].some(({ opType }) => SELECTING.has(opType));
  const found = findImage(inputs);
  const isHalf = [...graph.values.values()].some(
    ({ type, constant }) => constant?.dtype === 'float16' || (type?.kind === 'tensor' && type.dtype === 'float16'),
  );
  const angles = isWholeDetector ? [] : findAngleColumns(model);
  const known = { inputs, outputs, angles, nodes: graph.nodes.size, weightFiles, isWholeDetector, isHalf };
  if (found === undefined) return { ...known, image: undefined };
  const { image, dims } = await chooseSize({ path, model, given, isWholeDetector }, found, outputs);
  return { ...known, outputs: outputs.map(output => ({ ...output, dims: dims.get(output.name) ?? output.dims })), image };
}

function widened(port: Port): Port {
  return port.dtype === 'float16' ? { ...port, dtype: 'float32' } : port;
}

function findImage([input, ...others]: readonly Port[]): FoundImage | undefined {
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

/** Sides of the image per side of the output, of segmentation networks that leave the last resize to the user. */
const COARSER = [2, 4, 8] as const;
/** Heatmaps of the points of a person, as pose networks give them. */
const PERSON_POINTS = 17;
/** Feature maps have a multiple of this many channels. */
const FEATURES = 16;

/**
 * The first output with a score per class and pixel: [N, classes, H, W] at the size of the image; or at a half, quarter or eighth of it,
 * if it is the only output and its channels are not as many as those of features or heatmaps. @returns its name, and the number of classes.
 */
export function findPixelClasses({ outputs, image }: ModelFacts): { readonly output: string; readonly classes: number } | undefined {
  if (image === undefined) return undefined;
  for (const { name, dims, dtype } of outputs) {
    const [, classes, height, width] = dims ?? [];
    if (dims?.length !== 4 || dtype !== 'float32' || typeof classes !== 'number' || classes < 2) continue;
    const isAt = (scale: number): boolean => height === Math.ceil(image.height / scale) && width === Math.ceil(image.width / scale);
    const isCoarse = outputs.length === 1 && classes % FEATURES !== 0 && classes !== PERSON_POINTS && COARSER.some(isAt);
    if (isAt(1) || isCoarse) return { output: name, classes };
  }
  return undefined;
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
