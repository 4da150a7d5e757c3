/** Drafts a pipeline file for an ONNX model from what the model says of itself. */

import { describeAngle } from '../../../../detection/families/single/decoder/angle-columns.js';
import type { FoundDecoder } from '../../../../detection/families/single/decoder/decoder-guess.js';
import { formOfDecoder } from '../../../../detection/families/single/decoder/decoder-text.js';
import { findDecoder } from '../../../../detection/families/single/decoder/find-decoder.js';
import { dimsOfOne } from '../../../../detection/image/image-form.js';
import { EXTERNAL_DATA_SUFFIXES } from '../../../../onnx/serde/external-names.js';
import { formatDims } from '../../../../onnx/shape-inference/context/node-context.js';
import { BIASES, calibrateStage, captureStage, EVALUATION, factorsStage, measuredBy } from './draft-stages.js';
import { findPixelClasses, flowOf, type ModelFacts, quote } from './model-facts.js';
import { countClasses, type Port } from './model-ports.js';

export interface DraftRequest {
  readonly facts: ModelFacts;
  /** Relative to the project folder. */
  readonly model: string;
  /** Folder of images, relative to the project folder. */
  readonly images: string;
  readonly imagesAre: 'own' | 'stand-ins';
  /** 'found': by the outputs. */
  readonly kind: 'classifier' | 'plain' | 'found';
  /** First lines, for editors. */
  readonly head: string;
  /** Quantizes, verifies and compiles in each of these, without a benchmark and a page; default: in one, which a param names. */
  readonly presets?: readonly string[];
  /** COCO annotations of the images, relative to the project folder. With them the draft evaluates a detector. */
  readonly annotations?: string;
  /** 'recover': with stages that recover accuracy. */
  readonly accuracy?: 'recover';
  /** Images that calibrate; default 16. */
  readonly samples?: number;
}

export interface Draft {
  readonly text: string;
  /** "a classifier of 1000 classes". */
  readonly what: string;
  readonly needsImages: boolean;
  /** Whether its outputs were recognized as boxes. */
  readonly isDetector: boolean;
}

const classesOf = (count: number): string => `${count} ${count === 1 ? 'class' : 'classes'}`;

export function draftPipeline(request: DraftRequest): Draft {
  const { facts, kind } = request;
  const { image } = facts;
  if (image === undefined) return draftUnquantized(request);
  const isWhole = facts.isWholeDetector;
  const network = isWhole ? 'parts.network' : 'simplify.model';
  const classes = kind === 'plain' || isWhole ? undefined : countClasses(facts);
  const size = [image.height, image.width] as const;
  const decoding =
    kind === 'found' && classes === undefined && !isWhole && facts.angles.length === 0
      ? findDecoder(outputsOfOne(facts), { height: size[0], width: size[1] })
      : undefined;
  const what =
    classes !== undefined
      ? `a classifier of ${classesOf(classes)}`
      : decoding === undefined
        ? isWhole
          ? WHOLE
          : nameNetwork(facts)
        : `a detector of ${decoding.classes === 'ids of coco' ? decoding.classes : classesOf(decoding.classes)}`;
  const usual =
    classes !== undefined ? CLASSIFIER_IMAGES : isWhole ? WHOLE_IMAGES : decoding === undefined ? PLAIN_IMAGES : imagesOf(decoding);
  const preprocess = fitImages(usual, facts);
  const each = request.presets === undefined ? '' : `\n    foreach: [${request.presets.join(', ')}]`;
  const recovers = request.accuracy === 'recover';
  const float = recovers ? 'factors.model' : network;
  const int8 = recovers ? 'biases.model' : 'quantize.model';
  const [preset, quantized] = request.presets === undefined ? ['${preset}', int8] : ['${item}', '"quantize@${item}.model"'];
  const { samples = SAMPLES } = request;
  const prepare = facts.isPrepared ? ', prepare: parts.prepare' : '';
  const compared = Math.min(MOST_COMPARED, samples);
  const found = isWhole ? findDecoder(outputsOfOne(facts), { height: size[0], width: size[1] }) : undefined;
  const text = `${headOf(request, what)}
${request.presets === undefined ? PRESET_PARAM : ''}sources:
  model: ${quote(request.model)}
${filesOf(request)}  images: ${quote(request.images)}${request.imagesAre === 'stand-ins' ? ' # stand-ins: name images such as the network meets in use' : ''}${valSource(request)}

stages:
  # Checked, upgraded to a current operator set, batch ${typeof image.batch === 'number' ? `${image.batch} as in the file: images are taken ${image.batch} at once` : 1}.
  import:
    uses: import${importParams(facts, image.size === 'free' ? size : undefined)}
    inputs: {model: "\${sources.model}"${weightsOf(request) === undefined ? '' : ', externalData: "${sources.weights}"'}}

  simplify:
    uses: simplify
    inputs: {model: import.model}
${isWhole ? partsOf(found, facts) : decoding === undefined ? '' : describeStage(decoding, request)}${recovers ? factorsStage(network) : ''}
${notesOf(facts)}  # ${facts.isPrepared ? HOW_PREPARED : HOW_IMAGES} A wrong order of colors costs accuracy and gives no error.
${recovers ? captureStage(samples, preprocess, prepare) : calibrateStage(network, samples, preprocess, prepare)}
  quantize:${each}
    uses: quantize
    with: {preset: "${preset}"${decoding === undefined ? '' : ', joins: separate'}}
    inputs: {model: ${float}, sketches: calibrate.sketches}
${recovers ? BIASES : ''}
  # What quantization changes, on ${compared === 1 ? 'one image' : `${compared} images`}. -998 is no bound: with images of your own, bound it (12, say), so that a worse result fails.
  verify:${each}
    uses: verify
    with: {reference: model, candidate: model, samples: ${compared}, preprocess: *preprocess, thresholds: {minSqnrDb: -998}}
    inputs: {reference: ${network}, candidate: ${quantized}, images: "\${sources.images}"${prepare}}

  # For every node: NPU or CPU, and why. gate: {total.npuMacShare: ">= 0.99"}
  compile:${each}
    uses: compile
    with: {target: ryzen-ai, dtype: "${preset}"}
    inputs: {models: {model: ${quantized}}}
${request.presets === undefined ? measuredBy(network, int8) : ''}${(isWhole ? evaluateWhole(found, facts) : evaluateOf(classes, decoding, request) + evaluatePixels(facts, what)).replaceAll('quantize.model', request.presets === undefined ? int8 : 'quantize@a8w8.model')}${request.presets === undefined ? pageOf(request) : ''}`;
  return { text, what, needsImages: true, isDetector: decoding !== undefined };
}

/** The outputs for one image of a batch. */
function outputsOfOne({ outputs, image }: ModelFacts): readonly Port[] {
  const { batch } = image ?? {};
  return typeof batch === 'number' ? outputs.map(output => ({ ...output, dims: dimsOfOne(output.dims, batch) })) : outputs;
}

const SEGMENTS = 'a segmentation network';

function nameNetwork(facts: ModelFacts): string {
  const [angle] = facts.angles;
  if (angle !== undefined) return `a detector of rotated boxes: ${describeAngle(angle)}; docs/decoders/yolo-obb.js is a decoder for them`;
  const pixels = findPixelClasses(facts);
  return pixels === undefined ? 'a network that takes images' : `${SEGMENTS} of ${classesOf(pixels.classes)}`;
}

const SAMPLES = 16;
const MOST_COMPARED = 4;

const PRESET_PARAM = `params:
  preset: {type: string, enum: [xint8, a8w8, a16w8], default: a8w8, description: Quantization preset; the target runs it as its data type of the same name.}

`;

/** The annotated images; empty without annotations. */
function valSource({ annotations, images }: DraftRequest): string {
  return annotations === undefined ? '' : `\n  val: {annotations: ${quote(annotations)}, images: ${quote(images)}}`;
}

const EVALUATED = `      metrics: {float: evaluate-float.metrics, int8: evaluate-int8.metrics}
      detections: {float: evaluate-float.detections, int8: evaluate-int8.detections}
      data: "\${sources.val}"
`;

const pageOf = ({ annotations }: DraftRequest): string => `
  # All of it on one page: artifacts/report/page.html.
  report:
    uses: report
    inputs:
${annotations === undefined ? '' : EVALUATED}      verify: {quantize: verify.report}
      quantization: {model: quantize.report}
      sketches: {model: calibrate.sketches}
      compile: {ryzen-ai: compile.report}
      bench: {cpu: bench.report}
`;

const CLASSIFIER_IMAGES = '{mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225], resize: crop, antialias: true, rounding: bytes}';
const DETECTOR_IMAGES = '{resize: pad, fill: 114, rounding: bytes}';
const YOLOX_IMAGES = "{colors: bgr, range: '0..255', resize: pad, fill: 114, rounding: bytes}";
const WHOLE_IMAGES = '{resize: pad}';
const PLAIN_IMAGES = '{resize: stretch}';

function headOf({ head, model, facts, presets }: DraftRequest, what: string): string {
  const ports = (word: string, some: readonly Port[]): string => some.map(port => `#   ${word} ${describe(port)}\n`).join('');
  return `${head}#
# Drafted by "tanren ${presets === undefined ? 'init' : 'try'}" from ${model}, by its inputs and outputs ${what.replaceAll(/[\r\n]/g, ' ')}:
${ports('input ', facts.inputs)}${ports('output', facts.outputs)}version: 1
`;
}

function describe({ name, dtype, dims }: Port): string {
  return `${name}: ${dtype ?? '?'} ${formatDims(dims)}`.replaceAll(/[\r\n]/g, ' ');
}

function filesOf(request: DraftRequest): string {
  const weights = weightsOf(request);
  if (weights === undefined) return '';
  const what =
    request.facts.weightFiles.length === 1
      ? "the model's external data"
      : weights === '.'
        ? 'this folder; only the files that the model names are read'
        : 'the folder of the files with the weights';
  return `  weights: ${quote(weights)} # ${what}\n`;
}

/** The file with the weights, or the folder of several; undefined if there is none, or if `import` finds it beside the model by its name. */
function weightsOf({ facts: { weightFiles }, model }: DraftRequest): string | undefined {
  const [file, ...others] = weightFiles;
  if (file === undefined) return undefined;
  const folder = model.includes('/') ? model.slice(0, model.lastIndexOf('/')) : '.';
  if (others.length > 0) return folder;
  const name = model.slice(model.lastIndexOf('/') + 1);
  if (EXTERNAL_DATA_SUFFIXES.some(suffix => file === name + suffix)) return undefined;
  return folder === '.' ? file : `${folder}/${file}`;
}

function imagesOf({ images }: FoundDecoder): string {
  return images === 'bgr-bytes' ? YOLOX_IMAGES : DETECTOR_IMAGES;
}

function describeStage(found: FoundDecoder, { annotations, facts }: DraftRequest): string {
  return `
  # How the outputs are read. Assumed from their shapes: ${found.assumed}.
  # Compare with the code of the network: docs/stages/describe.md has the other forms.
  detector:
    uses: describe
    with:
      preprocess: ${fitImages(imagesOf(found), facts)}
      decoder:
        ${decoderOf(found)}
      categories: ${categoriesOf(found)}
${annotations === undefined ? '' : '      scoreThreshold: 0.01 # AP counts weak detections too\n'}      nms: ${SELECTING.has(found.decoder.kind) ? 'none' : 0.65}
    inputs: {model: simplify.model}
`;
}

/** Decoders of networks that remove duplicates themselves. */
const SELECTING: ReadonlySet<string> = new Set(['detections', 'selected']);

/** Without braces around the kind. */
function decoderOf({ decoder }: FoundDecoder): string {
  return flowOf(formOfDecoder(decoder)).slice(1, -1);
}

function categoriesOf({ classes }: FoundDecoder): string {
  if (classes === 'ids of coco') return 'coco-ids';
  if (classes === 80) return 'coco';
  const names = Array.from({ length: classes }, (_, index) => `class-${index + 1}`);
  return `[${names.join(', ')}] # {id: 3, name: cat} gives the ids of your annotations`;
}

/** Stages that need labels: as comments without any. */
function evaluateOf(classes: number | undefined, decoding: FoundDecoder | undefined, { annotations }: DraftRequest): string {
  if (classes !== undefined)
    return `
  # With labels, a line "name label" per image, as a source labels: labels.txt:
  # evaluate-float: {uses: evaluate-classes, with: {preprocess: *preprocess}, inputs: {model: simplify.model, images: "\${sources.images}", labels: "\${sources.labels}"}}
  # evaluate-int8: {uses: evaluate-classes, with: {preprocess: *preprocess}, inputs: {model: quantize.model, images: "\${sources.images}", labels: "\${sources.labels}", baseline: evaluate-float.metrics}}
`;
  if (decoding === undefined) return '';
  if (annotations !== undefined) return EVALUATION;
  return `
  # With COCO annotations, as a source val: {annotations: instances.json, images: images}:
  # evaluate-float: {uses: evaluate, with: {iouTypes: [bbox]}, inputs: {parts: {model: simplify.model}, recipe: detector.recipe, data: "\${sources.val}"}}
  # evaluate-int8: {uses: evaluate, with: {iouTypes: [bbox]}, inputs: {parts: {model: quantize.model}, recipe: detector.recipe, data: "\${sources.val}", baseline: evaluate-float.metrics}}
`;
}

/** The evaluation of a segmentation network, as comments: the draft has no masks. */
function evaluatePixels(facts: ModelFacts, what: string): string {
  const pixels = what.startsWith(SEGMENTS) ? findPixelClasses(facts) : undefined;
  if (pixels === undefined) return '';
  const settings = `{output: ${quote(pixels.output)}, preprocess: *preprocess}`;
  const inputs = 'images: "${sources.images}", masks: "${sources.masks}"';
  return `
  # With masks, PNG files with a class number per pixel and the names of the images, as a source masks: masks:
  # evaluate-float: {uses: evaluate-segmentation, with: ${settings}, inputs: {model: simplify.model, ${inputs}}}
  # evaluate-int8: {uses: evaluate-segmentation, with: ${settings}, inputs: {model: quantize.model, ${inputs}, baseline: evaluate-float.metrics}}
`;
}

/** Imports and simplifies only: calibration needs tensors from the user, or a split into parts. */
function draftUnquantized(request: DraftRequest): Draft {
  const { facts, model } = request;
  const what = facts.isWholeDetector ? WHOLE : nameInputs(facts);
  const why = facts.isWholeDetector
    ? '  # Sizes inside depend on what is found: docs/your-own-model.md says how such a graph is calibrated, quantized and compiled in parts.'
    : `${facts.inputNotes.map(note => `  # ${note.replaceAll(/[\r\n]/g, ' ')}.\n`).join('')}${WITH_TENSORS}`;
  const text = `${headOf(request, what)}
sources:
  model: ${quote(model)}
${filesOf(request)}
stages:
  import:
    uses: import${freeShapes(facts)}
    inputs: {model: "\${sources.model}"${weightsOf(request) === undefined ? '' : ', externalData: "${sources.weights}"'}}

  simplify:
    uses: simplify
    inputs: {model: import.model}

${why}

  # All of it on one page: artifacts/report/page.html.
  report:
    uses: report
    inputs: {}
`;
  return { text, what, needsImages: false, isDetector: false };
}

function nameInputs({ inputs }: ModelFacts): string {
  const image = inputs.find(({ dims = [] }) => dims.length >= 3 && [dims.at(-1), dims.at(-3)].includes(COLORS));
  return image === undefined ? 'a network that takes no images' : 'a network whose inputs an image does not give';
}

const COLORS = 3;
/** Settings of values that are no integers. */
const FLOAT_SETTINGS = /(mean|std): \[[^\]]*\], |range: '0\.\.255', /g;

/** The settings for the model's inputs: integers are bytes, int8 bytes minus 128, and other inputs are stated. */
function fitImages(usual: string, { image, others }: ModelFacts): string {
  const bytes = image?.dtype.includes('int') === true ? usual.replaceAll(FLOAT_SETTINGS, '') : usual;
  const own = image?.dtype === 'int8' ? `${bytes.slice(0, -1)}, mean: [128, 128, 128]}` : bytes;
  if (others.length === 0) return own;
  const stated = others.map(other => `${quote(other.name)}: ${other.kind === 'image' ? 'image' : valuesOf(other.values)}`);
  return `${own.slice(0, -1)}, inputs: {${stated.join(', ')}}}`;
}

function valuesOf(values: readonly (string | number)[]): string {
  return values.length === 1 ? String(values[0]) : `[${values.join(', ')}]`;
}

function notesOf({ inputNotes }: ModelFacts): string {
  return inputNotes.map(note => `  # Assumed: ${note.replaceAll(/[\r\n]/g, ' ')}.\n`).join('');
}

const HOW_IMAGES = 'How an image becomes the input is not in the file: repeat what the training code did.';
const HOW_PREPARED =
  "The part prepare does what the model itself does to an image, such as normalization. State what the model's users do before.";

const WHOLE = 'a whole detector in one graph, with proposals or non-maximum suppression';

/** Sizes that are free in the file, a batch of 1 for an image without one, and float32 for float16. */
function importParams(facts: ModelFacts, size: readonly number[] | undefined): string {
  const { name = '', batch, layout, channels = 3 } = facts.image ?? {};
  const unbatched = batch === 'none' && layout === 'channels-first' ? ['unbatched: batch'] : [];
  const axes = layout === 'channels-last' ? [...(size ?? []), channels] : [channels, ...(size ?? [])];
  const shapes =
    size === undefined
      ? []
      : [`shapes: {${quote(name)}: [${[...(batch === 'none' ? [] : [typeof batch === 'number' ? batch : 1]), ...axes].join(', ')}]}`];
  const params = [...unbatched, ...floatsOf(facts), ...shapes];
  if (params.length === 0) return '';
  return `\n    with: {${params.join(', ')}}${size === undefined ? '' : ' # free in the file, and it runs at these: name those that you deploy'}`;
}

function floatsOf({ isHalf }: ModelFacts): readonly string[] {
  return isHalf ? ['float16: widen'] : [];
}

/** The parts, and how detections are read if the outputs tell. */
function partsOf(found: FoundDecoder | undefined, facts: ModelFacts): string {
  const { isPrepared } = facts;
  const parts = `
  # Sizes depend on what is found. network: the layers whose sizes are known; rest: everything after them, which runs on the host${isPrepared ? '; prepare: what precedes them' : ''}.
  parts:
    uses: split
    with: {cuts: static${isPrepared ? ', prepare: model' : ''}}
    inputs: {model: simplify.model}
`;
  if (found === undefined) return parts;
  return `${parts}
  # How detections are read. Assumed from the outputs: ${found.assumed}.
  detector:
    uses: describe
    with:
      preprocess: ${fitImages(WHOLE_IMAGES, facts)}
      decoder:
        ${decoderOf(found)}
      categories: ${categoriesOf(found)}
    inputs: {model: parts.network, ${isPrepared ? 'prepare: parts.prepare, ' : ''}rest: parts.rest}
`;
}

/** Stages that need labels, as comments: the draft has none. */
function evaluateWhole(found: FoundDecoder | undefined, { isPrepared }: ModelFacts): string {
  const named = found === undefined ? ', and a stage detector that uses describe' : '';
  const types = found?.decoder.kind === 'detections' && found.decoder.keypoints !== undefined ? '[bbox, keypoints]' : '[bbox]';
  const partsWith = (model: string): string => `{${isPrepared ? 'prepare: parts.prepare, ' : ''}model: ${model}, rest: parts.rest}`;
  return `
  # With COCO annotations, as a source val: {annotations: instances.json, images: images}${named}:
  # evaluate-float: {uses: evaluate, with: {iouTypes: ${types}}, inputs: {parts: ${partsWith('parts.network')}, recipe: detector.recipe, data: "\${sources.val}"}}
  # evaluate-int8: {uses: evaluate, with: {iouTypes: ${types}}, inputs: {parts: ${partsWith('quantize.model')}, recipe: detector.recipe, data: "\${sources.val}", baseline: evaluate-float.metrics}}
`;
}

const WITH_TENSORS = `  # Quantization needs tensors that the network meets in use, as a source tensors: tensors, a folder of .npz files with an array per input.
  # calibrate: {uses: calibrate, inputs: {model: simplify.model, tensors: "\${sources.tensors}"}}
  # quantize: {uses: quantize, with: {preset: a8w8}, inputs: {model: simplify.model, sketches: calibrate.sketches}}
  # verify: {uses: verify, with: {reference: model, candidate: model}, inputs: {reference: simplify.model, candidate: quantize.model, tensors: "\${sources.tensors}"}}
  # compile: {uses: compile, with: {target: ryzen-ai, dtype: a8w8}, inputs: {models: {model: quantize.model}}}`;

/** Free sizes stay free; the first size of an input is 1. */
function freeShapes(facts: ModelFacts): string {
  const shapes = facts.inputs.flatMap(({ name, dims = [] }) => {
    if (dims.every(dim => typeof dim === 'number')) return [];
    const sizes = dims.map((dim, index) => (typeof dim === 'number' ? dim : index === 0 ? 1 : 'free'));
    return [`${quote(name)}: [${sizes.join(', ')}]`];
  });
  const params = [...floatsOf(facts), ...(shapes.length === 0 ? [] : [`shapes: {${shapes.join(', ')}}`])];
  if (params.length === 0) return '';
  return `\n    with: {${params.join(', ')}}${shapes.length === 0 ? '' : ' # free: a size that stays free'}`;
}
