/** Plans for tests, stage by stage: plugin, params, and inputs as "stage.port" or a source path. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { JsonObject } from '../../src/base/json.js';
import type { InputBinding, InputRef, Plan, PlannedStage, StageId } from '../../src/engine/model/plan.js';
import type { StagePlugin } from '../../src/stage/define-stage.js';
import type { Ports } from '../../src/stage/ports.js';

export interface StageSpec
  extends Partial<
    Pick<PlannedStage, 'gate' | 'resources' | 'priority' | 'timeoutMs' | 'retries' | 'env' | 'secrets' | 'executor' | 'properties'>
  > {
  readonly uses: string;
  readonly params?: JsonObject;
  readonly inputs?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

const span = { file: 'pipeline.yaml', line: 1, column: 1, endLine: 1, endColumn: 1 };

/** Modules of the plugins' folder, by the plugins that they export; any other is in `text.mjs`. */
const MODULES: Readonly<Record<string, string>> = {
  codeMix: 'code-mix.mjs',
  partMix: 'part-mix.mjs',
  toolMix: 'tool-mix.mjs',
  spread: 'spread.mjs',
};

/** A plan of stages in topological order, with plugins of the modules in the plugins' folder. */
export async function planOf(
  projectFolder: string,
  plugins: string,
  stages: Readonly<Record<string, StageSpec>>,
  pools: Readonly<Record<string, number>> = { cpu: 2, npu: 1 },
): Promise<Plan> {
  const declared = new Map<string, Readonly<Record<string, StagePlugin>>>();
  for (const { uses } of Object.values(stages)) {
    const path = join(plugins, MODULES[uses] ?? 'text.mjs');
    declared.set(uses, (await import(pathToFileURL(path).href)) as Readonly<Record<string, StagePlugin>>);
  }
  const planned = Object.entries(stages).map(([id, spec]): [StageId, PlannedStage] => {
    const modulePath = join(plugins, MODULES[spec.uses] ?? 'text.mjs');
    const plugin = declared.get(spec.uses)?.[spec.uses];
    if (plugin === undefined) throw new Error(`no plugin ${spec.uses}`);
    const stage: PlannedStage = {
      id: id as StageId,
      group: id,
      plugin: { name: spec.uses, plugin, modulePath, origin: plugin.isolation === 'in-process' ? 'built-in' : 'local' },
      params: spec.params ?? {},
      inputPorts: plugin.inputs as Ports,
      outputPorts: plugin.outputs as Ports,
      inputs: Object.fromEntries(Object.entries(spec.inputs ?? {}).map(([port, input]) => [port, bind(input, stages)])),
      determinism: plugin.determinism === 'measured' ? 'measured' : 'exact',
      gate: spec.gate ?? [],
      resources: spec.resources ?? {},
      priority: spec.priority ?? 0,
      timeoutMs: spec.timeoutMs,
      retries: spec.retries ?? 0,
      env: spec.env ?? [],
      secrets: spec.secrets ?? [],
      executor: spec.executor,
      properties: spec.properties,
      network: 'none',
      span,
    };
    return [stage.id, stage];
  });
  const targets = new Map<string, readonly StageId[]>(planned.map(([id]) => [id, [id]]));
  return { pipeline: 'pipeline', projectFolder, stages: new Map(planned), targets, params: {}, pools };
}

function bind(input: string | Readonly<Record<string, string>>, stages: Readonly<Record<string, StageSpec>>): InputBinding {
  if (typeof input === 'string') return refer(input, stages);
  return { kind: 'record', entries: Object.fromEntries(Object.entries(input).map(([entry, one]) => [entry, refer(one, stages)])) };
}

function refer(text: string, stages: Readonly<Record<string, StageSpec>>): InputRef {
  const [stage = '', port = ''] = text.split('.');
  return stages[stage] === undefined
    ? { kind: 'source', name: text, path: text, span }
    : { kind: 'artifact', stage: stage as StageId, port, span };
}

export function gate(metric: string, operator: '>=' | '<=' | '>' | '<' | '==', bound: number) {
  return { metric, operator, bound, span };
}
