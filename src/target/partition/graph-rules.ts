/** Findings about the model as a whole: too few Conv, too many parts, batch sizes. */

import { makeFinding } from '../legality/unit-case.js';
import type { Target } from '../profile/choose-target.js';
import { parseIntegerSet } from '../profile/integer-set.js';
import type { Finding } from '../report/finding.js';
import type { UnitGraph } from '../units/node-units.js';
import { tensorOf } from '../units/unit-facts.js';
import type { Partition } from './partition.js';

export interface GraphCase {
  readonly graph: UnitGraph;
  readonly partition: Partition;
  readonly target: Target;
}

export function checkGraph({ graph, partition, target }: GraphCase): readonly Finding[] {
  const { minConvs, maxSubgraphs } = target.graph;
  const convs = graph.units.filter(unit => unit.target.opType === 'Conv').length;
  const findings: Finding[] = [];
  if (convs < minConvs.value) {
    findings.push(
      makeFinding(target, {
        rule: 'too-few-conv',
        measured: `${convs} Conv`,
        limit: `${minConvs.value} or more`,
        message: `the model has ${convs} Conv; the compiler leaves a model with fewer than ${minConvs.value} on the CPU`,
        source: minConvs.source,
        note: minConvs.note,
      }),
    );
  }
  const dropped = [...partition.demoted.values()].find(({ rule }) => rule === 'too-many-subgraphs');
  if (dropped !== undefined) {
    findings.push(
      makeFinding(target, {
        rule: 'too-many-subgraphs',
        severity: 'warning',
        measured: `more than ${maxSubgraphs.value} parts`,
        limit: `${maxSubgraphs.value} parts for the NPU`,
        message: dropped.reason,
        source: maxSubgraphs.source,
        note: maxSubgraphs.note,
      }),
    );
  }
  return [...findings, ...checkBatch(graph, target)];
}

/** Checks the inputs of rank 4, which are images or features. */
function checkBatch({ model }: UnitGraph, target: Target): readonly Finding[] {
  return target.graph.batches.flatMap(({ allowed, source, note }) => {
    const set = parseIntegerSet(allowed);
    return model.graph.inputs.flatMap(id => {
      const { name, dims } = tensorOf(model, id);
      const [batch] = dims ?? [];
      if (set === undefined || dims?.length !== 4 || typeof batch !== 'number' || set.has(batch)) return [];
      const message = `the batch of input "${name}" is ${batch}; the documentation lists ${set.text}`;
      return [
        makeFinding(target, { rule: 'batch', severity: 'warning', measured: `batch ${batch}`, limit: set.text, message, source, note }),
      ];
    });
  });
}
