/** How does a float model become an int8 one? From sketches to ranges, a plan, Q and DQ, and a report of every tensor. */
import type { Digest } from '../base/digest.js';
import { getValue } from '../onnx/ir/edit.js';
import type { Graph, Model, ValueId } from '../onnx/ir/model.js';
import { hoistConstants } from '../onnx/passes/constants.js';
import type { ModelSketches } from './calibration/model-sketches.js';
import { addressValues } from './calibration/value-address.js';
import { boundAccumulators } from './exact/accumulator-bounds.js';
import { QuantError } from './integers/quant-error.js';
import { planQuantization } from './placement/plan-quantization.js';
import { checkEffect, resolveOverrides } from './placement/resolve-overrides.js';
import { insertQdq } from './qdq/insert-qdq.js';
import type { Observation } from './range/range-method.js';
import { reportQuantization } from './report/quantization-report.js';
import type { QuantizationReport } from './report/report-entries.js';
import { type Exclusion, findExcluded, type Override } from './scheme/overrides.js';
import type { QdqDomain, QuantizationScheme } from './scheme/scheme.js';

export interface QuantizeOptions {
  readonly scheme: QuantizationScheme;
  /** Nodes and tensors that stay in float; resolved before anything is edited. */
  readonly exclude: readonly Exclusion[];
  /** What single tensors get; resolved before anything is edited. */
  readonly overrides?: readonly Override[];
  readonly domain: QdqDomain;
}

/**
 * Edits `model`, whose nodes are in topological order, into its QDQ form. No model is run.
 *
 * @param digest content digest of `model`, which `sketches` must be of.
 * @throws QuantError `sketches-of-another-model`, `already-quantized`, `no-elements`, `nothing-to-quantize`, `opset-too-old`, `bad-range`,
 *         `contradictory-knobs`, `override-without-effect`; OnnxError `selector-matches-nothing`.
 */
export function quantizeModel(model: Model, digest: Digest, sketches: ModelSketches, options: QuantizeOptions): QuantizationReport {
  const { graph } = model;
  const { scheme } = options;
  checkMatch(graph, digest, sketches);
  const excluded = findExcluded(graph, options.exclude);
  const overrides = resolveOverrides(graph, options.overrides ?? [], scheme);
  const observations = observe(model, sketches);
  // Weights in Constant nodes are weights too.
  hoistConstants(graph);
  const plan = planQuantization(graph, {
    scheme,
    observations,
    excluded: excluded.nodes,
    excludedValues: excluded.values,
    settings: overrides.settings,
  });
  checkEffect(graph, plan, overrides);
  const report = reportQuantization(graph, plan, { ...options, samples: sketches.samples, observations, settings: overrides.settings });
  insertQdq(model, plan, options.domain);
  return { ...report, accumulators: boundAccumulators(model) };
}

function checkMatch(graph: Graph, digest: Digest, sketches: ModelSketches): void {
  const quantized = [...graph.nodes.values()].find(node => node.opType === 'QuantizeLinear' || node.opType === 'DequantizeLinear');
  if (quantized !== undefined) {
    throw new QuantError('already-quantized', `graph "${graph.name}" has a ${quantized.opType} node "${quantized.name}" already`, {
      help: 'quantize the float model',
    });
  }
  if (sketches.model === digest) return;
  throw new QuantError(
    'sketches-of-another-model',
    `the sketches are of model ${sketches.model.slice(0, 12)}…, this is ${digest.slice(0, 12)}…`,
    {
      help: 'calibrate the very model that is quantized: same structure, same weights (names may differ)',
    },
  );
}

function observe(model: Model, sketches: ModelSketches): Map<ValueId, Observation> {
  const observations = new Map<ValueId, Observation>();
  for (const [id, address] of addressValues(model)) {
    const found = sketches.values.get(address);
    if (found === undefined) continue;
    observations.set(id, { kind: 'seen', name: getValue(model.graph, id).name, sketch: found.sketch, ort: found.ort });
  }
  return observations;
}
