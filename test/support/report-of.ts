/** Plans and build reports for tests of what is printed, written stage by stage with only what matters. */

import type { Failure } from '../../src/engine/model/failure.js';
import type { GateResult } from '../../src/engine/model/gate-result.js';
import type { Plan, PlannedStage, StageId } from '../../src/engine/model/plan.js';
import type { BuildReport, StageReport } from '../../src/engine/model/report.js';
import { defineStage } from '../../src/stage/define-stage.js';

export const spanAt = (line: number) => ({ file: 'pipeline.yaml', line, column: 3, endLine: line, endColumn: 4 });

/** `id uses plugin`, with what it reads. */
export function planWith(
  stages: Readonly<Record<string, { readonly uses: string; readonly reads?: readonly string[] }>>,
  pipeline = 'pipeline',
): Plan {
  const planned = Object.entries(stages).map(([id, { uses, reads = [] }], line): [StageId, PlannedStage] => {
    const plugin = defineStage({
      name: uses,
      version: 1,
      description: '',
      params: {},
      inputs: {},
      outputs: {},
      determinism: 'exact',
      runsModels: 'never',
      run: async () => undefined,
    });
    const stage: PlannedStage = {
      id: id as StageId,
      group: id.split('@')[0] ?? id,
      plugin: { name: uses, plugin, modulePath: `/plugins/${uses}.js`, origin: 'built-in' },
      params: {},
      inputPorts: {},
      outputPorts: {},
      inputs: Object.fromEntries(
        reads.map(from => [from, { kind: 'artifact', stage: from as StageId, port: 'out', span: spanAt(line + 1) }]),
      ),
      determinism: 'exact',
      gate: [],
      resources: {},
      priority: 0,
      timeoutMs: undefined,
      retries: 0,
      env: [],
      secrets: [],
      network: 'none',
      span: spanAt(line + 1),
    };
    return [stage.id, stage];
  });
  return {
    pipeline,
    projectFolder: '/project',
    stages: new Map(planned),
    targets: new Map(planned.map(([id]) => [id, [id]])),
    params: {},
    pools: {},
  };
}

export function failureOf(parts: Partial<Failure>): Failure {
  return {
    code: 'some-code',
    message: 'it broke',
    help: undefined,
    details: null,
    causes: [],
    stack: undefined,
    logPath: undefined,
    ...parts,
  };
}

export function reportOf(
  stages: Readonly<Record<string, Partial<StageReport>>>,
  rest: { readonly gates?: readonly GateResult[]; readonly conclusion?: BuildReport['conclusion'] } = {},
): BuildReport {
  const reports = Object.entries(stages).map(([id, parts]): [StageId, StageReport] => [
    id as StageId,
    { stage: id as StageId, outcome: { kind: 'up-to-date' }, metrics: undefined, previousMetrics: undefined, artifacts: {}, ...parts },
  ]);
  return { stages: new Map(reports), gates: rest.gates ?? [], checks: [], durationMs: 1234, conclusion: rest.conclusion ?? 'built' };
}
