/** The part of `widen-types` that measures the errors of the outputs with one set of wider types. The float model's outputs are computed once per run. */

import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { findSteps } from '../../src/quant/sensitivity/find-steps.js';
import type { OutputError } from '../../src/quant/sensitivity/report-schema.js';
import { openOutputMeter } from '../../src/quant/sensitivity/restored-outputs.js';
import { describeOutputErrors } from '../../src/quant/sensitivity/sensitivity-report.js';
import type { QuantizeParams } from '../../src/quant/settings/quantize-params.js';
import { parseWidenedTypes, type WidenedTypes } from '../../src/quant/widening/widened-types.js';
import { feedsOf, openSampleList } from '../../src/runtime/capture/sample-files.js';
import { defineJsonPart } from '../../src/stage/json-part.js';
import { type Closable, makeOpenOrReuse } from '../../src/stage/reuse-open.js';
import type { ErrorsManifest } from './errors-part.js';
import { makeTrialModel, readQuantizer, type TrialRequest } from './quantize-trial.js';

export interface OutputsManifest extends JsonObject {
  readonly run: ErrorsManifest;
  readonly types: WidenedTypes & JsonObject;
}

export const outputsPart = defineJsonPart<OutputsManifest>({
  name: 'widen-types-outputs',
  version: 1,
  module: import.meta.url,
  async compute({ manifest: { run, types }, unkeyed, context }) {
    const meter = await openOrReuse(JSON.stringify([run, unkeyed.scratch]), () => open(unkeyed, run));
    const checkAbort = (): void => context.signal.throwIfAborted();
    return [...(await meter.measure({ types: parseWidenedTypes(types), run, unkeyed, checkAbort }))];
  },
});

interface TrialMeter extends Closable {
  measure(request: Omit<TrialRequest, 'quantizer'>): Promise<readonly OutputError[]>;
}

const openOrReuse = makeOpenOrReuse<TrialMeter>();

async function open(unkeyed: Readonly<Record<string, string>>, { quantize }: ErrorsManifest): Promise<TrialMeter> {
  const paths = { model: getDefined(unkeyed.model, 'model'), sketches: getDefined(unkeyed.sketches, 'sketches') };
  const quantizer = await readQuantizer(paths, quantize as QuantizeParams);
  const list = await openSampleList(getDefined(unkeyed.samples, 'samples'), getDefined(unkeyed.captured, 'captured'));
  const folder = await mkdtemp(join(getDefined(unkeyed.scratch, 'scratch'), 'outputs-'));
  const { model: narrow } = quantizer.quantize();
  const models = findSteps(quantizer.float, narrow);
  const samples = { float: feedsOf(models.float, list), quantized: feedsOf(models.quantized, list) };
  const meter = await openOutputMeter({ models, samples, folder });
  return {
    measure: async request => describeOutputErrors(await meter.measureModel(await makeTrialModel({ quantizer, ...request }))),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
