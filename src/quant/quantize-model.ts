/** How does a float model become an int8 one? From sketches to ranges, a plan, Q and DQ, and a report of every tensor. */
import type { Digest } from '../base/digest.js';
import { getValue } from '../onnx/ir/edit.js';
import type { Graph, Model, Node, NodeId, ValueId } from '../onnx/ir/model.js';
import { hoistConstants } from '../onnx/passes/constants.js';
import { selectMatching } from '../onnx/rewrite/matches.js';
import { type NodeSelector, selectNodes } from '../onnx/select-nodes.js';
import { insertQdq, type QdqDomain } from './insert-qdq.js';
import type { ModelSketches } from './model-sketches.js';
import { planQuantization } from './plan-quantization.js';
import type { Range } from './qparams.js';
import { QuantError } from './quant-error.js';
import { type QuantizationReport, reportQuantization } from './quantization-report.js';
import { chooseQParams } from './range.js';
import type { QuantizationScheme } from './scheme.js';
import { addressValues } from './value-address.js';

/** Nodes to leave out: at least one that the selector means, or, where one list serves several models, as many as there are. */
export type Exclusion = NodeSelector | { readonly select: NodeSelector; readonly matches: 'any' };

export interface QuantizeOptions {
  readonly scheme: QuantizationScheme;
  /** Nodes that stay in float; resolved before anything is edited. */
  readonly exclude: readonly Exclusion[];
  readonly domain: QdqDomain;
}

/**
 * Edits `model`, whose nodes are in topological order, into its QDQ form. No model is run.
 *
 * @param digest content digest of `model`, which `sketches` must be of.
 * @throws QuantError `sketches-of-another-model`, `already-quantized`, `no-elements`, `nothing-to-quantize`, `opset-too-old`, `bad-range`;
 *         OnnxError `selector-matches-nothing`.
 */
export function quantizeModel(model: Model, digest: Digest, sketches: ModelSketches, options: QuantizeOptions): QuantizationReport {
  const { graph } = model;
  checkMatch(graph, digest, sketches);
  const excluded = new Set<NodeId>(options.exclude.flatMap(exclusion => findExcluded(graph, exclusion).map(node => node.id)));
  const ranges = chooseRanges(model, sketches, options.scheme);
  // Weights in Constant nodes are weights too.
  hoistConstants(graph);
  const plan = planQuantization(graph, { scheme: options.scheme, ranges, excluded });
  const report = reportQuantization(graph, plan, { ...options, samples: sketches.samples, seen: ranges });
  insertQdq(model, plan, options.domain);
  return report;
}

function findExcluded(graph: Graph, exclusion: Exclusion): readonly Node[] {
  if (typeof exclusion === 'object' && 'select' in exclusion) return selectMatching(graph, exclusion.select, exclusion.matches);
  return selectNodes(graph, exclusion);
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

function chooseRanges(model: Model, sketches: ModelSketches, { range, activation }: QuantizationScheme): Map<ValueId, Range> {
  const ranges = new Map<ValueId, Range>();
  for (const [id, address] of addressValues(model)) {
    const found = sketches.values.get(address);
    if (found === undefined) continue;
    const seen = { kind: 'seen', name: getValue(model.graph, id).name, sketch: found.sketch, ort: undefined } as const;
    ranges.set(id, chooseQParams(seen, range, { ...activation, reduceRange: false }).range);
  }
  return ranges;
}
