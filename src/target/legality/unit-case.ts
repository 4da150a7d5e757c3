/** The input and output of legality rules: one unit with the chosen target, and a finding per failure. */
import type { Model, Node } from '../../onnx/ir/model.js';
import type { Target } from '../profile/choose-target.js';
import type { Finding, FixIt, Severity } from '../report/finding.js';
import type { NodeUnit, UnitGraph } from '../units/node-units.js';
import { findFixIts } from './fix-its.js';

export interface UnitCase {
  readonly target: Target;
  readonly graph: UnitGraph;
  readonly model: Model;
  readonly unit: NodeUnit;
  /** 'float': a model without Q and DQ. Only its shapes and operators are judged. */
  readonly mode: 'quantized' | 'float';
}

/** Returns all failures. Never edits the model. */
export type UnitRule = (unitCase: UnitCase) => readonly Finding[];

export interface FindingSpec {
  readonly rule: string;
  /** 'refused' if absent. */
  readonly severity?: Severity | undefined;
  readonly measured: string;
  readonly limit: string;
  /** "the kernel is 1×1; the target supports 2 to 32", without the unit's name. */
  readonly message: string;
  /** Key of a source in the profile. */
  readonly source: string;
  readonly note?: string | undefined;
  /** The node that the rules in `fixIts` would rewrite. */
  readonly fix?: { readonly model: Model; readonly node: Node; readonly rules: readonly string[] };
}

export function makeFinding(target: Target, spec: FindingSpec): Finding {
  const { rule, severity = 'refused', measured, limit, message, source, note, fix } = spec;
  const fixIts: readonly FixIt[] = fix === undefined ? [] : fix.rules.flatMap(name => findFixIts(name, fix.model, fix.node));
  return { rule, severity, message, ...(note === undefined ? {} : { note }), measured, limit, source: target.sourceOf(source), fixIts };
}

/** The computing nodes of a unit: the operator and the activation function fused with it. */
export function computingNodes({ target, activation }: NodeUnit): readonly Node[] {
  return activation === undefined ? [target] : [target, activation];
}
