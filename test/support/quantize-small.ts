/** Quantizes a small model as a pipeline would: sketches of its own values on the feeds given, then a preset, or a preset with other settings. */
import { digestModelContent } from '../../src/onnx/analysis/content-digest.js';
import { cloneModel } from '../../src/onnx/ir/clone.js';
import type { Model } from '../../src/onnx/ir/model.js';
import type { ModelSketches } from '../../src/quant/calibration/model-sketches.js';
import { openSketcher } from '../../src/quant/calibration/sketch-model.js';
import { quantizeModel } from '../../src/quant/quantize-model.js';
import type { QuantizationReport } from '../../src/quant/report/report-entries.js';
import type { Preset } from '../../src/quant/scheme/scheme.js';
import type { Tensor } from '../../src/tensor/tensor.js';

/** The QDQ form of `model`, which is not changed. */
export async function quantizeOn(model: Model, feeds: Readonly<Record<string, Tensor>>, scheme: Preset): Promise<Model> {
  return (await quantizeAndReport(model, feeds, scheme)).model;
}

/** The same with the report of `quantize`. */
export async function quantizeAndReport(
  model: Model,
  feeds: Readonly<Record<string, Tensor>>,
  scheme: Preset,
): Promise<{ readonly model: Model; readonly report: QuantizationReport }> {
  const copy = cloneModel(model);
  const sketcher = openSketcher(copy, { budgetBytes: 1e9, freeDim: 1 });
  const sketches = await sketcher.sample(feeds);
  await sketcher.close();
  const values: ModelSketches['values'] = new Map([...sketches].map(([address, sketch]) => [address, { name: '', sketch }]));
  const digest = digestModelContent(copy);
  const report = quantizeModel(copy, digest, { model: digest, samples: 1, values }, { scheme, exclude: [], domain: scheme.qdqDomain });
  return { model: copy, report };
}
