/** Findings about the model as a whole: too few Conv, too many parts. */

import { makeFinding } from '../legality/unit-case.js';
import type { Target } from '../profile/choose-target.js';
import type { Finding } from '../report/finding.js';
import type { UnitGraph } from '../units/node-units.js';
import { countConvs, type Partition } from './partition.js';

export interface GraphCase {
  readonly graph: UnitGraph;
  readonly partition: Partition;
  readonly target: Target;
}

export function checkGraph({ graph, partition, target }: GraphCase): readonly Finding[] {
  const { minConvs, maxSubgraphs } = target.graph;
  const convs = countConvs(graph);
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
  return findings;
}
