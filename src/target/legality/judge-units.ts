/** Decides which units the NPU can run: every rule on every unit, with all findings; Q and DQ at the edges follow their neighbors. */
import type { Model } from '../../onnx/ir/model.js';
import type { Target } from '../profile/choose-target.js';
import type { Device } from '../report/compile-report.js';
import type { Finding } from '../report/finding.js';
import type { NodeUnit, UnitGraph } from '../units/node-units.js';
import { checkIsland } from './island-rules.js';
import { checkLimits } from './limit-rules.js';
import { checkProductBias } from './observed-forms.js';
import { checkOperators } from './operator-rules.js';
import { checkPositions } from './position-rules.js';
import { checkQuantization } from './quantization-rules.js';
import { checkShapes } from './shape-rules.js';
import { makeFinding, type UnitCase, type UnitRule } from './unit-case.js';

export interface UnitVerdict {
  readonly findings: readonly Finding[];
  /** Whether no finding refuses it; undocumented operators count as the params say. */
  readonly admitted: boolean;
  /** A separate Q or DQ: at an end of the model, or beside a float node. */
  readonly edge: boolean;
}

export interface JudgeOptions {
  /** The device of units with undocumented operators. */
  readonly undocumented: Device;
}

const RULES: readonly UnitRule[] = [
  checkIsland,
  checkOperators,
  checkLimits,
  checkShapes,
  checkQuantization,
  checkProductBias,
  checkPositions,
];

/** One verdict per unit. */
export function judgeUnits(graph: UnitGraph, target: Target, { undocumented }: JudgeOptions): readonly UnitVerdict[] {
  const mode = modeOf(graph.model);
  const trailing = findTrailing(graph, target);
  return graph.units.map(unit => {
    const edge = unit.kind === 'quantize' || unit.kind === 'dequantize';
    const unitCase: UnitCase = { target, graph, model: graph.model, unit, mode };
    const findings = [...RULES.flatMap(rule => rule(unitCase)), ...(trailing.has(unit.id) ? [trailingFinding(target, unit)] : [])];
    const admitted = findings.every(({ severity }) => severity === 'warning' || (severity === 'undocumented' && undocumented === 'npu'));
    return { findings, admitted, edge };
  });
}

/** 'quantized' if the model has any Q or DQ. */
export function modeOf(model: Model): UnitCase['mode'] {
  for (const node of model.graph.nodes.values()) if (/^(De)?[Qq]uantizeLinear$/.test(node.opType)) return 'quantized';
  return 'float';
}

/** The device of each unit: admitted units go to the NPU. A separate Q follows its readers, and a separate DQ its producer: NPU if one of them is there. */
export function placeUnits(graph: UnitGraph, verdicts: readonly UnitVerdict[], demoted: ReadonlySet<number>): readonly Device[] {
  const onNpu = (id: number): boolean => verdicts[id]?.admitted === true && !demoted.has(id);
  return graph.units.map(({ id, kind }) => {
    if (!onNpu(id)) return 'cpu';
    if (verdicts[id]?.edge !== true) return 'npu';
    const neighbors = kind === 'quantize' ? graph.after[id] : graph.before[id];
    return neighbors?.some(other => onNpu(other) && verdicts[other]?.edge !== true) ? 'npu' : 'cpu';
  });
}

/** Reshaping chains at the end of the model without a Q after them, searched from the outputs. */
function findTrailing({ model, units, after }: UnitGraph, target: Target): ReadonlySet<number> {
  const operators = target.graph.trailing.value;
  const outputs = new Set(model.graph.outputs);
  const found = new Set<number>();
  for (const { id, kind, target: node } of [...units].reverse()) {
    if (kind !== 'plain' || !operators.includes(node.opType)) continue;
    const readers = after[id] ?? [];
    const given = node.outputs.some(output => output !== undefined && outputs.has(output));
    if (readers.every(reader => found.has(reader)) && (given || readers.length > 0)) found.add(id);
  }
  return found;
}

function trailingFinding(target: Target, { target: node }: NodeUnit): Finding {
  const { value, source } = target.graph.trailing;
  return makeFinding(target, {
    rule: 'trailing-reshape',
    measured: `${node.opType} at the end of the model`,
    limit: `no ${value.join(', ')} without Q and DQ after it at an output`,
    message: `it computes a model output; ${value.join(', ')} before an output without Q and DQ stay on the CPU`,
    source,
    note: 'Quantize its output, or cut the model before it.',
  });
}
