/** Finds which inputs of a model take an image, in which form, and what the other inputs take. */
import { findOwn } from '../../base/find-own.js';
import { getValue } from '../../onnx/ir/edit.js';
import type { Dim, Model } from '../../onnx/ir/model.js';
import { describeInput, listModelInputs, type ModelInput } from '../../runtime/session/model-inputs.js';
import { DetectionError } from '../error/detection-error.js';
import { batchOf, IMAGE_DTYPES, type ImageDType, type ImageForm, isIntegerDType, isUsualForm } from '../image/image-form.js';
import type { Preprocessing } from '../image/preprocessing-schema.js';
import { findChannels } from './find-channels.js';
import { countOfDims, type ImageInputs, isPerImage, type OtherInput } from './image-inputs-schema.js';

export interface FoundInputs {
  readonly inputs: ImageInputs;
  /** What is not said by the usual form, float32 [1, 3, height, width], a sentence each. */
  readonly notes: readonly string[];
  /** Which inputs are assumed to take the same image as the first: a network that compares two images would see no difference. */
  readonly warnings: readonly string[];
}

/** As the log of a stage. */
export type LogInputs = (level: 'info' | 'warning', text: string) => void;

export function logInputs({ notes, warnings }: FoundInputs, log: LogInputs): void {
  for (const one of notes) log('info', one);
  for (const one of warnings) log('warning', one);
}

type Stating = Pick<Preprocessing, 'image' | 'layout' | 'inputs'>;

/**
 * How one image gives every input of the model that has no default.
 * @param later parts that run after it: their inputs that no part gives are made of the image too, if they take it and `model` does not, or if a value is stated or follows
 * from their name.
 * @throws DetectionError `image-input` if no input takes an image, or another input has no value.
 */
export function findImageInputs(model: Model, stated: Stating, later: readonly Model[] = []): FoundInputs {
  const listed = [...inputsOf(model), ...listLater(model, later, stated)];
  const unknown = Object.keys(stated.inputs ?? {}).find(name => !listed.some(input => input.name === name));
  if (unknown !== undefined) throw noInput(unknown, listed, '`inputs` of `preprocess`');
  const image = chooseImage(listed, stated);
  const others = listed.filter(({ name }) => name !== image.name).map(input => findOther(input, image.form, stated));
  const notes = [
    ...(isUsualForm(image.form) && others.length === 0 ? [] : [`input "${image.name}" takes the image: ${describeForm(image.form)}`]),
    ...others.map(describeOther),
  ];
  const assumed = others.filter(({ kind, name }) => kind === 'image' && statedValue(stated, name) === undefined);
  const warnings = assumed.map(
    ({ name }) =>
      `input "${name}" is assumed to take the same image as "${image.name}"; for pairs of images, connect tensors; otherwise state it in \`inputs\` of \`preprocess\`: ${name}: image`,
  );
  return { inputs: { image, others, order: listed.map(({ name }) => name) }, notes, warnings };
}

/** An input, and the model that has it. */
interface OpenInput extends ModelInput {
  readonly model: Model;
}

const inputsOf = (model: Model): readonly OpenInput[] => listModelInputs(model).map(input => ({ ...input, model }));

function listLater(first: Model, later: readonly Model[], stated: Stating): readonly OpenInput[] {
  const known = new Set(inputsOf(first).map(({ name }) => name));
  for (const { graph } of [first, ...later]) for (const id of graph.outputs) known.add(getValue(graph, id).name);
  const isOpen = inputsOf(first).every(input => findForm(first, input, stated.layout) === undefined);
  const hasValue = (input: OpenInput): boolean => {
    const { name, model } = input;
    if (stated.image === name || statedValue(stated, name) !== undefined || guessByName(input) !== undefined) return true;
    return isOpen && findForm(model, input, stated.layout) !== undefined;
  };
  const valued = later.flatMap(inputsOf).filter(input => !known.has(input.name) && hasValue(input));
  return valued.filter(({ name }, index) => valued.findIndex(other => other.name === name) === index);
}

/** The input named by `image`, or the first of an image with 3 channels, or else with 1. */
function chooseImage(inputs: readonly OpenInput[], stated: Stating): ImageInputs['image'] {
  if (stated.image !== undefined && !inputs.some(({ name }) => name === stated.image))
    throw noInput(stated.image, inputs, '`image` of `preprocess`');
  const open = inputs.filter(({ name }) => (stated.image === undefined ? statedValue(stated, name) === undefined : name === stated.image));
  const found = open.flatMap(input => {
    const form = findForm(input.model, input, stated.layout);
    return form === undefined ? [] : [{ name: input.name, form }];
  });
  const chosen = found.find(({ form }) => form.channels === COLORS) ?? found[0];
  if (chosen !== undefined) return chosen;
  const listed = inputs.map(input => `"${input.name}" ${describeInput(input)}`).join(', ');
  throw new DetectionError(
    'image-input',
    `no input takes an image, which is [batch, channels, height, width] or [batch, height, width, channels] with 3 channels or 1; the model has ${listed || 'no inputs'}`,
    { help: 'pin the shapes with `import`, or connect tensors: .npz, .npy or ONNX .pb files' },
  );
}

/** How the message begins of an input that has no value beside the image. */
export const NO_VALUE = 'no value is known';

const COLORS = 3;

/** The form of an input whose sizes are those of one image; undefined for other inputs. */
export function findForm(model: Model, input: ModelInput, layout?: Stating['layout']): ImageForm | undefined {
  const dtype = input.dtype ?? 'float32';
  if (input.dims === undefined || !isImageDType(dtype)) return undefined;
  const [batch, ...sizes] = input.dims.length === 4 ? input.dims : [1, ...input.dims];
  if (sizes.length !== 3 || batch === 0) return undefined;
  const found = findAxes(model, input.name, sizes, { rank: input.dims.length, layout });
  if (found === undefined) return undefined;
  const [height, width] = found.layout === 'channels-first' ? sizes.slice(1) : sizes;
  if (height === 1 || width === 1) return undefined;
  const places = typeof batch === 'number' && batch > 1 ? batch : 'one';
  return { dtype, batch: input.dims.length === 4 ? places : 'none', ...found, height: sideOf(height), width: sideOf(width) };
}

function findAxes(
  model: Model,
  name: string,
  [first, , last]: readonly Dim[],
  { rank, layout }: { readonly rank: number; readonly layout: Stating['layout'] },
): Pick<ImageForm, 'layout' | 'channels'> | undefined {
  const axes = [
    { layout: 'channels-first', channels: first },
    { layout: 'channels-last', channels: last },
  ] as const;
  const wanted = layout === undefined ? axes : axes.filter(axis => axis.layout === layout);
  const colors = wanted.find(({ channels }) => channels === COLORS);
  if (colors !== undefined) return { layout: colors.layout, channels: COLORS };
  // A signal of one channel, or a mask, may have three axes too.
  const gray = rank === 4 ? wanted.find(({ channels }) => channels === 1) : undefined;
  if (gray !== undefined) return { layout: gray.layout, channels: 1 };
  if (rank !== 4 || wanted.every(({ channels }) => typeof channels === 'number')) return undefined;
  const id = model.graph.inputs.find(one => getValue(model.graph, one).name === name);
  const read = id === undefined ? undefined : findChannels(model, id);
  const fits = read !== undefined && wanted.some(axis => axis.layout === read.layout && typeof axis.channels !== 'number');
  return fits ? read : undefined;
}

function isImageDType(dtype: string): dtype is ImageDType {
  return IMAGE_DTYPES.some(one => one === dtype);
}

function sideOf(dim: Dim): number | null {
  return typeof dim === 'number' ? dim : null;
}

function findOther(input: OpenInput, image: ImageForm, stated: Stating): OtherInput {
  const { name, model, dtype = 'float32' } = input;
  const value = statedValue(stated, name) ?? guessValue(model, input, image);
  if (value === undefined || input.dims === undefined || !isImageDType(dtype))
    throw new DetectionError('image-input', `${NO_VALUE} for input "${name}" ${describeInput(input)} beside the image`, {
      help: `state it in \`preprocess\`: inputs: {${name}: 0}, with a number, a list, or words such as input-height and scale-y; or connect tensors`,
    });
  if (value === 'image') {
    const form = findForm(model, input, stated.layout);
    if (form !== undefined && batchOf(form) === batchOf(image)) return { kind: 'image', name, form };
    throw new DetectionError(
      'image-input',
      `input "${name}" ${describeInput(input)} has not the form of ${batchOf(image) === 1 ? 'an image' : `${batchOf(image)} images`}`,
      {
        help: 'state numbers for it in `inputs` of `preprocess`',
      },
    );
  }
  const values = Array.isArray(value) ? value : [value];
  const dims = input.dims.map(dim => (typeof dim === 'number' ? dim : 1));
  const count = countOfDims(dims);
  const batch = batchOf(image);
  const isRow = dims[0] === batch && values.length * batch === count;
  if (values.some(one => one === 'image') || (values.length !== 1 && values.length !== count && !isRow))
    throw new DetectionError(
      'image-input',
      `input "${name}" ${describeInput(input)} takes ${count} numbers, and ${values.length} are stated`,
      {
        help: 'state one number for all elements, or as many as it has, in `inputs` of `preprocess`; `image` stands alone',
      },
    );
  if (isIntegerDType(dtype) && !values.every(one => typeof one !== 'number' || (Number.isInteger(one) && Math.abs(one) <= MOST_WHOLE)))
    throw new DetectionError('image-input', `input "${name}" ${describeInput(input)} takes integers, and ${values.join(', ')} is stated`, {
      help: `state whole numbers of at most ${MOST_WHOLE}`,
    });
  const own =
    batch === 1 || isPerImage({ dims, values }, batch)
      ? undefined
      : values.find(one => typeof one === 'string' && !one.startsWith('input-'));
  if (own !== undefined)
    throw new DetectionError('image-input', `input "${name}" ${describeInput(input)} has no place for ${own} of each of ${batch} images`, {
      help: 'state a number for it in `inputs` of `preprocess`',
    });
  return { kind: 'values', name, dtype, dims, values };
}

/** Integers up to it are exact in float32. */
const MOST_WHOLE = 2 ** 24;

type StatedValue = NonNullable<Stating['inputs']>[string];

/** The name is of a model, which may call an input "constructor". */
function statedValue({ inputs = {} }: Stating, name: string): StatedValue | undefined {
  return findOwn(inputs, name);
}

function guessValue(model: Model, input: ModelInput, image: ImageForm): StatedValue | undefined {
  const batch = batchOf(image);
  const [first, ...rest] = input.dims ?? [];
  const guessed = guessByName(batch > 1 && first === batch ? { ...input, dims: [1, ...rest] } : input);
  const form = guessed === undefined ? findForm(model, input) : undefined;
  return form?.channels === image.channels && batchOf(form) === batch ? 'image' : guessed;
}

/** With the size of the network's input and a scale of 1, the boxes of a detector are in pixels of the input. */
function guessByName({ name, dims }: ModelInput): StatedValue | undefined {
  const count = dims?.every(dim => typeof dim !== 'string' || dim === dims[0])
    ? dims.reduce<number>((product, dim) => product * (typeof dim === 'number' ? dim : 1), 1)
    : undefined;
  if (count === undefined) return undefined;
  if (/scale|ratio|factor/i.test(name) && count <= 2) return 1;
  if (count === 2 && /orig_target_sizes/i.test(name)) return ['input-width', 'input-height'];
  if (count === 2 && /size|shape|dims?$|(^|_)hw/i.test(name)) return ['input-height', 'input-width'];
  if (count === 3 && /info/i.test(name)) return ['input-height', 'input-width', 1];
  return undefined;
}

function describeForm({ dtype, layout, batch, channels }: ImageForm): string {
  const axes = layout === 'channels-first' ? [channels, 'height', 'width'] : ['height', 'width', channels];
  const values = dtype.startsWith('float') ? '' : ', values rounded to integers';
  return `${dtype} [${[...(batch === 'none' ? [] : [batch === 'one' ? 1 : batch]), ...axes].join(', ')}]${channels === 1 ? ', gray' : ''}${values}`;
}

function describeOther(other: OtherInput): string {
  return other.kind === 'image'
    ? `input "${other.name}" takes the same image: ${describeForm(other.form)}`
    : `input "${other.name}" takes ${other.values.join(', ')}`;
}

function noInput(name: string, inputs: readonly ModelInput[], place: string): DetectionError {
  return new DetectionError('image-input', `${place} names "${name}", which is no input of the model`, {
    help: `its inputs are ${inputs.map(input => input.name).join(', ')}`,
  });
}
