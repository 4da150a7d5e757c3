/** The facts about a model that its pipeline file needs: its inputs and outputs, and whether it is a classifier or a detector. */
import { realpathSync } from 'node:fs';
import { dirname, relative, sep } from 'node:path';
import { isJsonObject, type Json } from '../../../../base/json.js';
import { findImageInputs } from '../../../../detection/data/image-inputs.js';
import type { OtherInput } from '../../../../detection/data/image-inputs-schema.js';
import { DetectionError } from '../../../../detection/error/detection-error.js';
import { type AngleColumn, findAngleColumns } from '../../../../detection/families/single/decoder/angle-columns.js';
import { batchOf } from '../../../../detection/image/image-form.js';
import type { Preprocessing } from '../../../../detection/image/preprocessing-schema.js';
import { listConstants } from '../../../../onnx/analysis/model-stats.js';
import { cloneModel } from '../../../../onnx/ir/clone.js';
import type { Model } from '../../../../onnx/ir/model.js';
import { findFileRange } from '../../../../onnx/serde/file-constant.js';
import { readModel } from '../../../../onnx/serde/model-file.js';
import { pinShapes } from '../../../../onnx/surgery/pin-shapes.js';
import { precedeNetwork } from '../../../../onnx/surgery/static-parts.js';
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
  /** Of a whole detector: whether nodes precede its network, such as normalization. */
  readonly isPrepared: boolean;
  /** Whether values or weights are float16: `import` widens them, and inputs and outputs are those after it. */
  readonly isHalf: boolean;
  /** The input that takes a picture, if all others have a value beside it. */
  readonly image: ModelImage | undefined;
  /** The other inputs: what each takes. */
  readonly others: readonly OtherInput[];
  /** What is known of the inputs that is not the usual, or why an image does not give them. */
  readonly inputNotes: readonly string[];
  /** Those of the notes that may be wrong without an error: inputs that are assumed to take the same image. */
  readonly inputWarnings: readonly string[];
}

/** Values of inputs besides the image, by name. */
export type StatedInputs = NonNullable<Preprocessing['inputs']>;

export interface GivenInputs {
  readonly size?: GivenSize | undefined;
  readonly inputs?: StatedInputs | undefined;
}

const SELECTING: ReadonlySet<string> = new Set(['NonMaxSuppression', 'NonZero', 'RoiAlign']);

/**
 * @param given size: the height and width for a model that leaves them free; without it, the model is run to find one. inputs: values of inputs besides the image.
 * @throws OnnxError if the file is no model; EngineError `image-size` if it runs at no size that is known, or has another size than `given`.
 */
export async function readFacts(path: string, { size: given, inputs: stated }: GivenInputs): Promise<ModelFacts> {
  const model = await readModel(path);
  const { graph } = model;
  const inputs = graph.inputs.filter(id => graph.values.get(id)?.constant === undefined).map(id => widened(portOf(model, id)));
  const outputs = graph.outputs.map(id => widened(portOf(model, id)));
  const files = new Set([...listConstants(graph)].flatMap(constant => findFileRange(constant)?.path ?? []));
  const folder = realpathSync(dirname(path));
  const weightFiles = [...files].map(file => relative(folder, file).replaceAll(sep, '/')).sort();
  const isWholeDetector = [...graph.nodes.values()].some(({ opType }) => SELECTING.has(opType));
  const found = findImage(model, stated);
  const isHalf = [...graph.values.values()].some(
    ({ type, constant }) => constant?.dtype === 'float16' || (type?.kind === 'tensor' && type.dtype === 'float16'),
  );
  const angles = isWholeDetector ? [] : findAngleColumns(model);
  const known = { inputs, outputs, angles, nodes: graph.nodes.size, weightFiles, isWholeDetector, isHalf };
  const { image: taken, others, notes: inputNotes, warnings: inputWarnings } = found;
  if (taken === undefined) return { ...known, isPrepared: false, image: undefined, others, inputNotes, inputWarnings };
  const { image, dims } = await chooseSize({ path, model, given, isWholeDetector }, taken, outputs);
  return {
    ...known,
    isPrepared: isWholeDetector && precedeNetwork(pinned(model, image)),
    others,
    inputNotes,
    inputWarnings,
    outputs: outputs.map(output => ({ ...output, dims: dims.get(output.name) ?? output.dims })),
    image,
  };
}

/** A copy of the model that takes one image of the chosen size. */
function pinned(model: Model, { name, layout, channels, height, width, batch }: ModelImage): Model {
  const axes = layout === 'channels-first' ? [channels, height, width] : [height, width, channels];
  const copy = cloneModel(model);
  pinShapes(copy, {
    shapes: { [name]: batch === 'none' ? axes : [batchOf({ batch: batch === 'some' ? 'one' : batch }), ...axes] },
    dims: {},
    batch: 1,
  });
  return copy;
}

function widened(port: Port): Port {
  return port.dtype === 'float16' ? { ...port, dtype: 'float32' } : port;
}

function findImage(
  model: Model,
  stated: StatedInputs | undefined,
): {
  readonly image: FoundImage | undefined;
  readonly others: readonly OtherInput[];
  readonly notes: readonly string[];
  readonly warnings: readonly string[];
} {
  try {
    const { inputs, notes, warnings } = findImageInputs(model, stated === undefined ? {} : { inputs: stated });
    const { form, name } = inputs.image;
    const { layout, channels, dtype } = form;
    const image: FoundImage = {
      name,
      batch: form.batch === 'one' ? 'some' : form.batch,
      layout,
      channels,
      dtype: dtype === 'float16' ? 'float32' : dtype,
      height: form.height ?? undefined,
      width: form.width ?? undefined,
    };
    return { image, others: inputs.others, notes: [...notes, ...warnings], warnings };
  } catch (error) {
    if (!(error instanceof DetectionError && error.code === 'image-input')) throw error;
    return { image: undefined, others: [], notes: [error.message], warnings: [] };
  }
}

/** Sides of the image per side of the output, of segmentation networks that leave the last resize to the user. */
const COARSER = [2, 4, 8] as const;
/** Heatmaps of the points of a person, as pose networks give them. */
const PERSON_POINTS = 17;
/** Feature maps have a multiple of this many channels. */
const FEATURES = 16;

/**
 * The first output with a score per class and pixel: [N, classes, H, W], or [N, H, W, classes] where the image has its channels last, at the size of the image; or at a half, quarter or eighth of it,
 * if it is the only output and its channels are not as many as those of features or heatmaps. @returns its name, and the number of classes.
 */
export function findPixelClasses({
  outputs,
  image,
}: ModelFacts): { readonly output: string; readonly classes: number; readonly layout: ModelImage['layout'] } | undefined {
  if (image === undefined) return undefined;
  for (const { name, dims, dtype } of outputs) {
    const [, first, second, third] = dims ?? [];
    const [classes, height, width] = image.layout === 'channels-last' ? [third, first, second] : [first, second, third];
    if (dims?.length !== 4 || dtype !== 'float32' || typeof classes !== 'number' || classes < 2) continue;
    const isAt = (scale: number): boolean => height === Math.ceil(image.height / scale) && width === Math.ceil(image.width / scale);
    const isCoarse = outputs.length === 1 && classes % FEATURES !== 0 && classes !== PERSON_POINTS && COARSER.some(isAt);
    if (isAt(1) || isCoarse) return { output: name, classes, layout: image.layout };
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
