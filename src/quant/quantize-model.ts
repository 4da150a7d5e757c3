/** Quantizes a float model: sketches give ranges, a plan gives Q and DQ, and a report describes every tensor. */
import type { Digest } from '../base/digest.js';
import { getValue } from '../onnx/ir/edit.js';
import type { Graph, Model, ValueId } from '../onnx/ir/model.js';
import { hoistConstants } from '../onnx/passes/constants.js';
import type { ModelSketches } from './calibration/model-sketches.js';
import { observe } from './calibration/observe.js';
import { boundAccumulators } from './exact/accumulator-bounds.js';
import { QuantError } from './integers/quant-error.js';
import { integersOf } from './placement/draft.js';
import { planQuantization } from './placement/plan-quantization.js';
import { checkEffect, resolveOverrides } from './placement/resolve-overrides.js';
import { findUnfit } from './placement/unfit.js';
import { findUnlikeJoins } from './placement/unlike-joins.js';
import type { PositionLimits } from './positions/problem/position-limits.js';
import { type RefineMethod, refinePositions } from './positions/refine-positions.js';
import { insertQdq } from './qdq/insert-qdq.js';
import { describeJoin } from './report/describe-joins.js';
import { describeRefinement } from './report/describe-refinement.js';
import { reportQuantization } from './report/quantization-report.js';
import type { QuantizationReport } from './report/report-entries.js';
import { type Exclusion, findExcluded, type Override } from './scheme/overrides.js';
import type { QdqDomain, QuantizationScheme } from './scheme/scheme.js';

export interface QuantizeOptions {
  readonly scheme: QuantizationScheme;
  /** Nodes and tensors that stay in float, resolved before any edit. */
  readonly exclude: readonly Exclusion[];
  /** Settings of single tensors, resolved before any edit. */
  readonly overrides?: readonly Override[];
  readonly domain: QdqDomain;
  /** 'separate': Concats of unlike ranges, and the nodes that only move their result to outputs, stay in float; default: 'shared'. */
  readonly joins?: JoinForm;
  /** Moves power-of-two scales into the bounds of a target; default: they stay. */
  readonly refine?: { readonly method: RefineMethod; readonly limits: PositionLimits } | undefined;
}

export type JoinForm = 'shared' | 'separate';

/**
 * Edits `model` into its QDQ form. Its nodes must be in topological order. No model is run. Nodes around masks and around values that calibration did
 * not reach stay in float.
 *
 * @param digest content digest of `model`; `sketches` must have the same one.
 * @throws QuantError `sketches-of-another-model`, `already-quantized`, `no-elements`, `nothing-to-quantize`, `opset-too-old`, `bad-range`,
 *         `contradictory-settings`, `override-without-effect`; OnnxError `selector-matches-nothing`.
 */
export function quantizeModel(model: Model, digest: Digest, sketches: ModelSketches, options: QuantizeOptions): QuantizationReport {
  const { graph } = model;
  const { scheme } = options;
  checkMatch(graph, digest, sketches);
  const excluded = findExcluded(graph, options.exclude);
  const overrides = resolveOverrides(graph, options.overrides ?? [], scheme);
  const seen = observe(model, sketches);
  // Constant nodes become initializers, so that weights in them are found.
  hoistConstants(graph);
  const unfit = findUnfit(graph, seen, overrides.settings);
  const unseen = new Set([...unfit.unreached, ...unfit.masks]);
  const observations = new Map([...seen].filter(([id]) => !unseen.has(id)));
  const namesOf = (ids: readonly ValueId[]): string[] => ids.map(id => getValue(graph, id).name);
  const unlike = findUnlikeJoins(graph, {
    observations,
    integersOf: id => integersOf({ scheme, settings: overrides.settings }, id),
    excluded: scheme.opTypes.includes('Concat') ? excluded.nodes : new Set(graph.nodes.keys()),
  });
  const separated = options.joins === 'separate' ? unlike.flatMap(({ movedBy }) => [...(movedBy ?? [])]) : [];
  const joins = unlike.map(join => describeJoin(graph, join, options.joins === 'separate' && join.movedBy !== undefined));
  const { settings } = overrides;
  const request = {
    scheme,
    observations,
    excluded: new Set([...excluded.nodes, ...separated]),
    inFloat: unfit.nodes,
    excludedValues: excluded.values,
    settings,
  };
  const first = planQuantization(graph, request);
  checkEffect(graph, first, overrides);
  const { refine } = options;
  const refinement = refine && refinePositions(graph, first, refine.method, { limits: refine.limits, observations, settings });
  const plan = refinement?.positions === undefined ? first : planQuantization(graph, { ...request, positions: refinement.positions });
  const report = reportQuantization(graph, plan, { ...options, samples: sketches.samples, observations, settings });
  insertQdq(model, plan, options.domain);
  return {
    ...report,
    ...(joins.length === 0 ? {} : { joins }),
    ...(unfit.unreached.length === 0 ? {} : { unreached: namesOf(unfit.unreached) }),
    ...(unfit.masks.length === 0 ? {} : { masks: namesOf(unfit.masks) }),
    ...(refinement === undefined ? {} : { positions: describeRefinement(refinement) }),
    accumulators: boundAccumulators(model),
  };
}

function checkMatch(graph: Graph, digest: Digest, sketches: ModelSketches): void {
  const quantized = [...graph.nodes.values()].find(node => node.opType === 'QuantizeLinear' || node.opType === 'DequantizeLinear');
  if (quantized !== undefined) {
    throw new QuantError('already-quantized', `graph "${graph.name}" already has a ${quantized.opType} node "${quantized.name}"`, {
      help: 'quantize the float model',
    });
  }
  if (sketches.model === digest) return;
  throw new QuantError(
    'sketches-of-another-model',
    `the sketches belong to model ${sketches.model.slice(0, 12)}…, but this model is ${digest.slice(0, 12)}…`,
    {
      help: 'calibrate the model that is quantized: structure and weights must be equal, names may differ',
    },
  );
}
