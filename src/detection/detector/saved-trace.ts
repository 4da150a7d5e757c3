/** Traces of images as files, so that a later run has them without its detector and without decoding the image. */
import { formatJsonProblems, readJsonShape } from '../../base/json/json-shape.js';
import { parseJson } from '../../base/json.js';
import { anyList, anyOf, anyText, constant, integer, mapOf, number, object } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { byteLength } from '../../tensor/dtype.js';
import { decodeSafetensors, encodeSafetensors } from '../../tensor/formats/safetensors.js';
import { decodeRawTensor, encodeRawTensor } from '../../tensor/raw-tensor.js';
import { countElements } from '../../tensor/shape.js';
import { type DataOf, makeTensor, type RawTensor, type Tensor } from '../../tensor/tensor.js';
import { DetectionError } from '../error/detection-error.js';
import type { RgbImage } from '../image/decode-image.js';
import type { DetectedObjects, ImageTrace, ObjectMasks, PartInputs } from './detector.js';

export interface TracedImage {
  readonly image: RgbImage;
  readonly trace: ImageTrace;
}

/** As it is saved: without the image where that is too large. */
export interface SavedTrace {
  readonly image?: RgbImage;
  readonly trace: ImageTrace;
}

/** Each text is the name of a stored tensor. */
const VALUES = mapOf(mapOf(anyText()));

const OBJECTS = object(
  {
    height: integer(0),
    width: integer(0),
    boxes: anyText(),
    scores: anyText(),
    labels: anyText(),
    masks: anyOf([
      object({ kind: constant('none') }),
      object({ kind: constant('squares'), side: integer(0), threshold: number(), data: anyText() }),
      object({ kind: constant('runs'), masks: anyList(object({ height: integer(0), width: integer(0), counts: anyText() })) }),
    ]),
  },
  { maskScores: anyText(), keypoints: object({ count: integer(0), data: anyText() }) },
);

const RECORD = object({ inputs: VALUES, outputs: VALUES, objects: OBJECTS }, { image: anyText() });

type SavedRecord = FromSchema<typeof RECORD>;
type SavedObjects = SavedRecord['objects'];

const readRecord = readerOf(RECORD);

/** Key of the record in the metadata of the file, which has the tensors. */
const KEY = 'trace';

/** Bytes of the pixels, if it has them, and of all inputs and outputs of the parts. */
export function sizeOfTraced({ image, trace }: SavedTrace): number {
  const parts = [...Object.values(trace.inputs), ...Object.values(trace.outputs)];
  const sizes = parts.flatMap(values => Object.values(values).map(({ dtype, dims }) => byteLength(dtype, countElements(dims))));
  return sizes.reduce((sum, size) => sum + size, image?.data.byteLength ?? 0);
}

/** As bytes of a .safetensors file: equal traces give equal bytes. */
export function encodeTraced({ image, trace }: SavedTrace): Uint8Array {
  const tensors = new Map<string, RawTensor>();
  const store = (tensor: Tensor): string => {
    const name = String(tensors.size);
    tensors.set(name, encodeRawTensor(tensor));
    return name;
  };
  const storeAll = (parts: PartInputs): SavedRecord['inputs'] => mapValues(parts, values => mapValues(values, store));
  const record: SavedRecord = {
    ...(image === undefined ? {} : { image: store(makeTensor('uint8', [image.height, image.width, 3], image.data)) }),
    inputs: storeAll(trace.inputs),
    outputs: storeAll(trace.outputs),
    objects: storeObjects(trace.objects, store),
  };
  return encodeSafetensors(tensors, new Map([[KEY, JSON.stringify(record)]]));
}

function storeObjects(objects: DetectedObjects, store: (tensor: Tensor) => string): SavedObjects {
  const { size, boxes, scores, labels, masks, maskScores, keypoints } = objects;
  const storeFloats = (data: Float32Array): string => store(makeTensor('float32', [data.length], data));
  return {
    height: size.height,
    width: size.width,
    boxes: storeFloats(boxes),
    scores: storeFloats(scores),
    labels: store(makeTensor('int32', [labels.length], labels)),
    masks: storeMasks(masks, store),
    ...(maskScores === undefined ? {} : { maskScores: storeFloats(maskScores) }),
    ...(keypoints === undefined ? {} : { keypoints: { count: keypoints.count, data: storeFloats(keypoints.data) } }),
  };
}

function storeMasks(masks: ObjectMasks, store: (tensor: Tensor) => string): SavedObjects['masks'] {
  if (masks.kind === 'none') return masks;
  if (masks.kind === 'squares') {
    const { kind, side, threshold, data } = masks;
    return { kind, side, threshold, data: store(makeTensor('float32', [data.length], data)) };
  }
  return {
    kind: 'runs',
    masks: masks.masks.map(({ height, width, counts }) => ({
      height,
      width,
      counts: store(makeTensor('uint32', [counts.length], counts)),
    })),
  };
}

/** @throws DetectionError `bad-record`; TensorError as decodeSafetensors. */
export function decodeTraced(bytes: Uint8Array): SavedTrace {
  const { tensors, metadata } = decodeSafetensors(bytes);
  const read = readJsonShape(readRecord, parseJson(metadata.get(KEY) ?? 'null'));
  if (read.kind === 'problems') throw badRecord(formatJsonProblems(read.problems).slice(0, 3).join('; '));
  const { image, inputs, outputs, objects } = read.value;
  const load = <Type extends 'float32' | 'int32' | 'uint32' | 'uint8'>(dtype: Type, name: string): Tensor<Type> => {
    const raw = tensors.get(name);
    if (raw?.dtype !== dtype) throw badRecord(`it has no ${dtype} tensor ${name}`);
    return decodeRawTensor({ ...raw, dtype });
  };
  const loadAll = (parts: SavedRecord['inputs']): PartInputs =>
    mapValues(parts, values => mapValues(values, name => ownTensor(load('float32', name))));
  const trace = { inputs: loadAll(inputs), outputs: loadAll(outputs), objects: loadObjects(objects, load) };
  return image === undefined ? { trace } : { image: toImage(load('uint8', image)), trace };
}

function toImage({ dims, data }: Tensor<'uint8'>): RgbImage {
  const [height, width, channels] = dims;
  if (height === undefined || width === undefined || channels !== 3) throw badRecord('its image is none of three channels');
  return { height, width, data };
}

/** A tensor with memory of its own: a message to a thread copies the whole memory behind a view. */
function ownTensor({ dims, data }: Tensor<'float32'>): Tensor<'float32'> {
  return makeTensor('float32', dims, data.slice());
}

type Load = <Type extends 'float32' | 'int32' | 'uint32'>(dtype: Type, name: string) => { readonly data: DataOf[Type] };

function loadObjects({ height, width, masks, maskScores, keypoints, ...named }: SavedObjects, load: Load): DetectedObjects {
  return {
    size: { height, width },
    boxes: load('float32', named.boxes).data,
    scores: load('float32', named.scores).data,
    labels: load('int32', named.labels).data,
    masks: loadMasks(masks, load),
    ...(maskScores === undefined ? {} : { maskScores: load('float32', maskScores).data }),
    ...(keypoints === undefined ? {} : { keypoints: { count: keypoints.count, data: load('float32', keypoints.data).data } }),
  };
}

function loadMasks(masks: SavedObjects['masks'], load: Load): ObjectMasks {
  if (masks.kind === 'none') return masks;
  if (masks.kind === 'squares') return { ...masks, data: load('float32', masks.data).data };
  return { kind: 'runs', masks: masks.masks.map(mask => ({ ...mask, counts: load('uint32', mask.counts).data })) };
}

function mapValues<From, To>(record: Readonly<Record<string, From>>, map: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}

function badRecord(reason: string): DetectionError {
  return new DetectionError('bad-record', `the record of what a detector computed for an image does not fit: ${reason}`, {
    help: 'build the stage again with `--force`',
  });
}
