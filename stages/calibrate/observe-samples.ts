/** Sketches samples with one stage part per sample and merges them. With `compat: ort`, a second pass counts over the joint ranges. */

import { getDefined } from '../../src/base/invariant.js';
import { digestModelContent } from '../../src/onnx/analysis/content-digest.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { addSample, type ModelSketches, parseSampleSketches } from '../../src/quant/calibration/model-sketches.js';
import { addressValues } from '../../src/quant/calibration/value-address.js';
import { encodeBinnings, parseSampleCounts } from '../../src/quant/ort-compat/ort-codec.js';
import {
  addSampleCounts,
  addSampleRanges,
  finishOrtObserved,
  type OrtHistogramRequest,
  type OrtTotal,
  planBinnings,
} from '../../src/quant/ort-compat/ort-observed.js';
import type { Sketch } from '../../src/quant/sketch/sketch.js';
import { CAPTURE_SESSION } from '../../src/runtime/capture/capture.js';
import { RuntimeError } from '../../src/runtime/session/runtime-error.js';
import { sessionManifest } from '../../src/runtime/session/session.js';
import type { Context, PartResult } from '../../src/stage/context.js';
import { takeInOrder } from '../../src/stage/in-order.js';
import { readJsonResult } from '../../src/stage/json-part.js';
import { nameSample } from '../../src/stage/name-sample.js';
import type { CalibrationSample } from './calibration-sample.js';
import { ortPart } from './ort-part.js';
import type { CalibrateParams } from './params.js';
import type { SampleFile } from './sample-file.js';
import { sketchPart } from './sketch-part.js';

export interface ObserveRequest {
  readonly model: Model;
  readonly modelPath: string;
  readonly params: CalibrateParams;
  readonly context: Context;
}

export interface SampleObserver {
  /** Sketches a sample. Many may be under way. */
  sketch(sample: SampleFile): Promise<PartResult>;
  /** Merges the sketches of a sample. Called in the order of the samples. The second pass finds the sample again. */
  add(sample: CalibrationSample, sketched: PartResult): Promise<void>;
  /** The sketches over all samples. Runs the second pass if `compat` requires it. */
  finish(): Promise<ModelSketches>;
}

export function observeSamples({ model, modelPath, params, context }: ObserveRequest): SampleObserver {
  const digest = digestModelContent(model);
  const manifest = { model: digest, session: sessionManifest(CAPTURE_SESSION) };
  const histogramRequests = params.compat === 'ort' ? params.ortHistograms : undefined;
  const samples: CalibrationSample[] = [];
  const total = new Map<string, Sketch>();
  const collected = new Map<string, OrtTotal>();
  let inferences = 0;

  const countAll = async (histograms: readonly OrtHistogramRequest[]): Promise<void> => {
    const binnings = encodeBinnings(planBinnings(total, histograms));
    let counted = 0;
    context.progress(0, samples.length, 'samples counted');
    await takeInOrder(samples, {
      atOnce: context.partsAtOnce,
      begin: sample =>
        nameSample(sample.label, async () => {
          context.signal.throwIfAborted();
          const input = await sample.find();
          if (input.kind === 'left-out')
            throw new RuntimeError('sample-mismatch', `it has changed since the first pass: ${input.reason}`, {
              help: 'build again, and do not change the samples during a build',
            });
          const { path, feeds } = input.file;
          try {
            const request = { manifest: { ...manifest, feeds, binnings }, blobs: { input: path }, unkeyed: { model: modelPath } };
            return await context.memo(ortPart, request);
          } finally {
            await input.remove?.();
          }
        }),
      take: async (result, _sample, index) => {
        if (result.from === 'computed') counted++;
        addSampleCounts(collected, parseSampleCounts(await readJsonResult(result)));
        context.progress(index + 1, samples.length, 'samples counted');
      },
    });
    context.log('info', `second pass: ${counted} inferred, ${samples.length - counted} reused`);
  };

  return {
    sketch: sample =>
      context.memo(sketchPart, {
        manifest: { ...manifest, feeds: sample.feeds, channels: params.perChannel ? 'each' : 'none' },
        blobs: { input: sample.path },
        unkeyed: { model: modelPath },
      }),
    async add(sample, sketched) {
      if (sketched.from === 'computed') inferences++;
      const sketches = parseSampleSketches(await readJsonResult(sketched));
      addSample(total, sketches);
      if (histogramRequests !== undefined) addSampleRanges(collected, sketches);
      samples.push(sample);
    },
    async finish() {
      context.log('info', `${samples.length} samples: ${inferences} inferred, ${samples.length - inferences} reused`);
      if (histogramRequests !== undefined) await countAll(histogramRequests);
      const values: ModelSketches['values'] = new Map(
        [...addressValues(model)].flatMap(([id, address]) => {
          const [sketch, ort] = [total.get(address), collected.get(address)];
          const { name } = getDefined(model.graph.values.get(id), 'value');
          if (sketch === undefined) return [];
          return [
            [address, { name, sketch, ...(ort && histogramRequests && { ort: finishOrtObserved(ort, histogramRequests) }) }] as const,
          ];
        }),
      );
      return { model: digest, samples: samples.length, values };
    },
  };
}
