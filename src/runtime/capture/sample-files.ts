/** The captured samples of a model's inputs, checked once, as files that parts of a stage read. */
import { readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { digestFile, digestJson } from '../../base/digest.js';
import { getDefined } from '../../base/invariant.js';
import { formatJsonProblems, readJsonShape } from '../../base/json/json-shape.js';
import { parseJson } from '../../base/json.js';
import { list, object, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import type { Model } from '../../onnx/ir/model.js';
import { readNpz } from '../../tensor/formats/npz.js';
import { checkFeed, checkFinite, listModelInputs, type NamedTensors } from '../session/model-inputs.js';
import { RuntimeError } from '../session/runtime-error.js';
import { openCaptured } from './captured.js';
import { findCapturedPart, matchCapturedInputs, takeFirstCaptured } from './captured-part.js';
import type { SampleRequest } from './sample-request.js';

const SAMPLE_LIST = object({
  arrays: list(text(), 'Arrays of each file, in the order of the model’s inputs.'),
  files: list(text('Relative to the folder of captured tensors.')),
});

export type SampleList = FromSchema<typeof SAMPLE_LIST>;

const reader = readerOf(SAMPLE_LIST);

/** Reads a list that a stage wrote for its parts as JSON. @param folder captured tensors. @throws RuntimeError `bad-capture`. */
export async function openSampleList(path: string, folder: string): Promise<OpenSampleList> {
  const read = readJsonShape(reader, parseJson(await readFile(path, 'utf8')));
  if (read.kind === 'ok') return { ...read.value, folder };
  throw new RuntimeError('bad-capture', `invalid list of samples: ${formatJsonProblems(read.problems).join('; ')}`);
}

/** A list with the folder of captured tensors that its files are in. */
export interface OpenSampleList extends SampleList {
  readonly folder: string;
}

export interface SampleFiles {
  readonly list: OpenSampleList;
  /** Of the content of every file, in order. */
  readonly digest: string;
}

/** Runs `work`; errors name the sample. */
export type NameSample = <T>(label: string, work: () => Promise<T>) => Promise<T>;

/**
 * Samples without rows are left out.
 * @throws RuntimeError `bad-capture`, `part-unknown`, `part-mismatch`, `too-few-samples`, `capture-mismatch`, `sample-mismatch`, `not-finite`, `no-rois`.
 */
export async function openSampleFiles(folder: string, model: Model, wanted: SampleRequest, nameSample: NameSample): Promise<SampleFiles> {
  const captured = await openCaptured(folder);
  const inputs = listModelInputs(model);
  const part = findCapturedPart(captured.index, inputs, wanted.part);
  const values = matchCapturedInputs(part, inputs);
  const files: string[] = [];
  for (const sample of takeFirstCaptured(captured.index.samples, wanted.samples)) {
    const { path, file, rows } = captured.locate(sample, part.name);
    if (rows === 0) continue;
    await nameSample(`sample ${sample.id} (${sample.source})`, async () => {
      const tensors = await captured.read(sample, part.name, 'input');
      checkFinite(tensors);
      for (const [index, input] of inputs.entries()) {
        const value = getDefined(values[index], 'value');
        // Models run in pieces without declared sizes, so that batches of RoIs may have any length.
        const isRagged = value.dims[0] === 'rows';
        const stated = isRagged ? { ...input, dims: input.dims && [undefined, ...input.dims.slice(1)] } : input;
        checkFeed(stated, getDefined(tensors[value.name], value.name), file);
      }
    });
    files.push(path);
  }
  if (files.length === 0) {
    throw new RuntimeError('no-rois', `none of the captured samples has a row of part "${part.name}": nothing to measure with`, {
      help: 'capture more images, or images with objects',
    });
  }
  const digests: string[] = [];
  for (const file of files) digests.push(await digestFile(file));
  const inFolder = files.map(file => relative(folder, file).split(sep).join('/'));
  return { list: { arrays: values.map(({ array }) => array), files: inFolder, folder }, digest: digestJson(digests) };
}

/** The list as parts read it, without its folder, which they get as a path of their own. */
export function describeSampleList({ arrays, files }: SampleList): SampleList {
  return { arrays, files };
}

/** The feeds of each sample by the input names of `model`, read when they are asked for. */
export function feedsOf(model: Model, { arrays, files, folder }: OpenSampleList): readonly (() => Promise<NamedTensors>)[] {
  const names = listModelInputs(model).map(({ name }) => name);
  return files.map(file => async () => {
    const archive = await readNpz(join(folder, file));
    return Object.fromEntries(names.map((name, index) => [name, archive.get(getDefined(arrays[index], `array of ${name}`))]));
  });
}
