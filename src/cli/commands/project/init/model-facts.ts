/** The facts about a model that its pipeline file needs: its inputs and outputs, and whether it is a classifier or a detector. */
import { realpathSync } from 'node:fs';
import { dirname, relative, sep } from 'node:path';
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

/** One output with a score per class: [N, classes], also with sizes of 1 after it. @returns the number of classes. */
export function countClasses({ outputs: [output, ...others] }: ModelFacts): number | undefined {
  if (output?.dims === undefined || output.dims.length < 2 || others.length > 0) return undefined;
  const [, classes, ...rest] = output.dims;
  return typeof classes === 'number' && classes > 1 && rest.every(dim => dim === 1) ? classes : undefined;
}

/** How the outputs of a detector are likely read: the `decoder` of `describe`, and the number of classes. */
export interface Decoding {
  /** In YAML. */
  readonly decoder: string;
  readonly classes: number;
  /** The assumption about the outputs, for a comment. */
  readonly guess: string;
  /** How images become the input of such networks, if not as of most detectors. */
  readonly images?: 'bgr-bytes';
}

const STRIDES = [8, 16, 32];
const BOX = 4;

/** @param size height and width of the input. */
export function guessDecoding({ outputs }: ModelFacts, [height, width]: readonly [number, number]): Decoding | undefined {
  const [first, second, ...others] = outputs;
  if (first === undefined || others.length > 0) return undefined;
  if (second !== undefined) return guessScoresAndBoxes([first, second]);
  const [, one, two, ...rest] = first.dims ?? [];
  if (typeof one !== 'number' || typeof two !== 'number' || rest.length > 0) return undefined;
  const [channels, rows] = one < two ? [one, two] : [two, one];
  if (channels <= BOX) return undefined;
  if (channels === one)
    return {
      decoder: `grid: {output: ${quote(first.name)}, boxes: {form: center}, classes: {channel: 4}}`,
      classes: channels - BOX,
      guess: 'rows of cx cy w h and a score per class, without objectness, as of YOLOv8',
    };
  const cells = STRIDES.reduce((sum, stride) => sum + Math.ceil(height / stride) * Math.ceil(width / stride), 0);
  if (channels <= BOX + 1) return undefined;
  const form = rows === cells ? `strides: [${STRIDES.join(', ')}], boxes: {form: exp}` : 'boxes: {form: center}';
  return {
    decoder: `grid: {output: ${quote(first.name)}, ${form}, objectness: {channel: 4}, classes: {channel: 5}}`,
    classes: channels - BOX - 1,
    guess:
      rows === cells
        ? 'a row per cell of strides 8, 16, 32, as of YOLOX'
        : 'rows of cx cy w h, objectness and a score per class, as of YOLOv5',
    ...(rows === cells ? { images: 'bgr-bytes' as const } : {}),
  };
}

/** Two outputs over the same rows, one of them with four channels. */
function guessScoresAndBoxes(pair: readonly [Port, Port]): Decoding | undefined {
  const boxes = pair.find(({ dims }) => dims?.length === 3 && dims[2] === BOX);
  const scores = pair.find(port => port !== boxes);
  const classes = scores?.dims?.length === 3 ? scores.dims[2] : undefined;
  if (boxes === undefined || scores === undefined || typeof classes !== 'number' || scores.dims?.[1] !== boxes.dims?.[1]) return undefined;
  const background = classes === 2;
  return {
    decoder: `boxes: {scores: ${quote(scores.name)}, boxes: ${quote(boxes.name)}, unit: fractions, activation: none${background ? ', background: true' : ''}}`,
    classes: background ? 1 : classes,
    guess: `x1 y1 x2 y2 as fractions of the input${background ? ', and a first class that is background' : ''}`,
  };
}

/** The outputs of a whole detector, by what they hold. */
export interface FoundDetections {
  readonly boxes: string;
  readonly scores: string;
  readonly classes: string;
}

/** Boxes [n, 4], scores [n] and integer classes [n]: one output each. */
export function findDetections({ outputs }: ModelFacts): FoundDetections | undefined {
  const find = (dtype: string, rank: number): string | undefined => {
    const [one, ...others] = outputs.filter(({ dtype: own, dims }) => own === dtype && dims?.length === rank);
    return others.length === 0 ? one?.name : undefined;
  };
  const [boxes, scores, classes] = [find('float32', 2), find('float32', 1), find('int64', 1)];
  return boxes === undefined || scores === undefined || classes === undefined ? undefined : { boxes, scores, classes };
}

/** Text as a YAML scalar on one line. */
export function quote(text: string): string {
  return /^[A-Za-z_][\w./-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text) ? text : JSON.stringify(text);
}
