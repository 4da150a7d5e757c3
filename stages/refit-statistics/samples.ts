/** The captured samples as feeds of both models, read when they are needed. */
import { getDefined } from '../../src/base/invariant.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { type Captured, openCaptured } from '../../src/runtime/capture/captured.js';
import { findCapturedPart, matchCapturedInputs, takeFirstCaptured } from '../../src/runtime/capture/captured-part.js';
import { listModelInputs, type NamedTensors } from '../../src/runtime/session/model-inputs.js';
import { StageError } from '../../src/stage/stage-error.js';
import type { RefitStatisticsParams } from './params.js';

export interface RefitSamples {
  readonly count: number;
  feedsOf(model: Model): readonly (() => Promise<NamedTensors>)[];
}

/** Samples without rows are left out. @throws RuntimeError `bad-capture`, `part-unknown`, `part-mismatch`, `too-few-samples`; StageError `no-rois`. */
export async function openRefitSamples(
  folder: string,
  model: Model,
  { part: wanted, samples }: RefitStatisticsParams,
): Promise<RefitSamples> {
  const captured: Captured = await openCaptured(folder);
  const part = findCapturedPart(captured.index, listModelInputs(model), wanted);
  const used = takeFirstCaptured(captured.index.samples, samples).filter(sample => captured.locate(sample, part.name).rows !== 0);
  if (used.length === 0)
    throw new StageError('no-rois', `none of the captured samples has a row of part "${part.name}": nothing to measure with`, {
      help: 'capture more images, or images with objects',
    });
  return {
    count: used.length,
    feedsOf(one) {
      const inputs = listModelInputs(one);
      const values = matchCapturedInputs(part, inputs);
      return used.map(sample => async () => {
        const tensors = await captured.read(sample, part.name, 'input');
        const nameAt = (index: number) => getDefined(values[index], 'captured value').name;
        return Object.fromEntries(inputs.map(({ name }, index) => [name, getDefined(tensors[nameAt(index)], nameAt(index))]));
      });
    },
  };
}
