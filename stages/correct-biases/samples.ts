/** The captured samples that both models are run on, as files that parts of the stage read. */
import { digestFile, digestJson } from '../../src/base/digest.js';
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { openCaptured } from '../../src/runtime/capture/captured.js';
import { findCapturedPart, matchCapturedInputs, takeFirstCaptured } from '../../src/runtime/capture/captured-part.js';
import { checkFeed, checkFinite, listModelInputs, type NamedTensors } from '../../src/runtime/session/model-inputs.js';
import { nameSample } from '../../src/stage/name-sample.js';
import { StageError } from '../../src/stage/stage-error.js';
import { readNpz } from '../../src/tensor/formats/npz.js';

export interface SampleList extends JsonObject {
  /** Arrays of each file, in the order of the models' inputs. */
  readonly arrays: readonly string[];
  readonly files: readonly string[];
}

export interface Samples {
  readonly list: SampleList;
  /** Of the content of every file, in order. */
  readonly digest: string;
}

/**
 * Samples without rows are left out.
 * @throws RuntimeError `bad-capture`, `part-unknown`, `part-mismatch`, `too-few-samples`, `capture-mismatch`, `sample-mismatch`, `not-finite`; StageError `no-rois`.
 */
export async function openSamples(
  folder: string,
  model: Model,
  wanted: { readonly part?: string; readonly samples?: number },
): Promise<Samples> {
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
    throw new StageError('no-rois', `none of the captured samples has a row of part "${part.name}": nothing to measure with`, {
      help: 'capture more images, or images with objects',
    });
  }
  const digests: string[] = [];
  for (const file of files) digests.push(await digestFile(file));
  return { list: { arrays: values.map(({ array }) => array), files }, digest: digestJson(digests) };
}

/** The feeds of each sample by the input names of `model`, read when they are asked for. */
export function feedsOf(model: Model, { arrays, files }: SampleList): readonly (() => Promise<NamedTensors>)[] {
  const names = listModelInputs(model).map(({ name }) => name);
  return files.map(file => async () => {
    const archive = await readNpz(file);
    return Object.fromEntries(names.map((name, index) => [name, archive.get(getDefined(arrays[index], `array of ${name}`))]));
  });
}
