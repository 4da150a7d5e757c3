/** Presets bf16 and bfp16: writes the model that computes what an NPU computes in the format. */
import { readModel, writeModel } from '../../src/onnx/serde/model-file.js';
import { parseModelSketches } from '../../src/quant/calibration/model-sketches.js';
import type { QuantizationReport } from '../../src/quant/report/report-entries.js';
import type { FloatFormat } from '../../src/quant/simulate/floats/float-format.js';
import { roundModel } from '../../src/quant/simulate/floats/rounded-model.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import { getOutputPath, readInput } from '../../src/stage/paths.js';

/** What the formats are modeled on; docs/simulation.md has their definitions. */
const ORIGINS = {
  bf16: { model: 'AMD Quark, BF16', version: '0.11' },
  bfp16: { model: 'AMD Quark, BFP16', version: '0.11' },
} as const satisfies Record<FloatFormat, { readonly model: string; readonly version: string }>;

/** @throws QuantError `simulate-quantized` for a model in integers; OnnxError of reading and shape inference. */
export async function runFloats(
  format: FloatFormat,
  { inputs, outputs, context }: Pick<StageJob<unknown>, 'inputs' | 'outputs' | 'context'>,
): Promise<void> {
  const model = await readInput(inputs, 'model', readModel);
  const { samples } = parseModelSketches(await readInput(inputs, 'sketches', readJsonFile));
  const nodes = model.graph.nodes.size;
  const report: QuantizationReport = {
    scheme: { preset: { name: format, ...ORIGINS[format] } },
    samples,
    counts: {
      nodes,
      activations: 0,
      weights: 0,
      biases: 0,
      removedActivationFunctions: 0,
      fusedActivationFunctions: 0,
      nodesInFloat: nodes,
    },
    activations: [],
    weights: [],
    biases: [],
    removed: [],
    fused: [],
    inFloat: [],
    accumulators: [],
  };
  await writeModel(getOutputPath(outputs, 'model'), roundModel(model, format));
  await writeJsonFile(getOutputPath(outputs, 'report'), report);
  context.log('info', `rounded to ${format}, modeled on ${ORIGINS[format].model}, version ${ORIGINS[format].version}: ${nodes} nodes`);
}
