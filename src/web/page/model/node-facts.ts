/** What other stages say about the nodes of a model: device and estimated time by `compile`, errors by `verify`. */
import { useMemo } from 'preact/hooks';
import type { StageRow } from '../../../report/views/pipeline-data.js';
import { address } from '../api/client.js';
import { useData } from '../api/use-data.js';
import { parseCompileReport } from '../compile/compile-report.js';
import { usePropagated } from '../quantization/use-propagated.js';

export interface NodeUnit {
  /** In the report of `compile`. */
  readonly id: number;
  readonly device: 'NPU' | 'CPU' | 'edge';
  readonly ms: number | undefined;
}

export interface NodeFacts {
  /** By the first output of a node. undefined: no stage compiled the model. */
  readonly unitOf: ReadonlyMap<string, NodeUnit> | undefined;
  /** Where the units are; undefined like `unitOf`. */
  readonly compiled: { readonly stage: string; readonly model: string } | undefined;
  readonly totalMs: number;
  /** SQNR in dB by value, infinite for equal values. undefined: no stage compared the values. */
  readonly sqnrOf: ReadonlyMap<string, number> | undefined;
}

interface Place {
  readonly stage: string;
  readonly port: string;
}

/** The report of a stage, if the page has it. */
function reportOf(stage: StageRow | undefined): string | undefined {
  const report = stage?.outputs.find(({ port }) => port === 'report');
  if (stage === undefined || !stage.built || report === undefined || report.absent === true) return undefined;
  return address('artifact', { stage: stage.id, port: 'report', v: report.digest?.slice(0, 16) });
}

export function useNodeFacts({ stage, port }: Place, stages: readonly StageRow[]): NodeFacts {
  const reads = (one: StageRow, name: RegExp): boolean =>
    one.inputs.some(input => input.stage === stage && input.port === port && name.test(input.name));
  const compile = stages.find(one => one.plugin === 'compile' && reads(one, /^models?\b/));
  const entry = compile?.inputs.find(input => input.stage === stage && input.port === port)?.name.split('.')[1];
  const compiled = useData(reportOf(compile), 'once', parseCompileReport).data;
  const { found } = usePropagated(stages, { stage, port });
  const errors = found?.parts;
  return useMemo(() => {
    const models = compiled?.models ?? [];
    const model = models.find(({ name }) => name === entry) ?? (models.length === 1 ? models[0] : undefined);
    const units = (model?.units ?? []).map(({ id, nodes, device, edge, estimate, callMs }) => ({
      nodes,
      unit: { id, device: edge ? 'edge' : device === 'npu' ? 'NPU' : 'CPU', ms: callMs ?? estimate?.ms } as const,
    }));
    // Names such as "input" repeat in other parts.
    const own = errors?.find(({ part }) => part === found?.entry) ?? (errors?.length === 1 ? errors[0] : undefined);
    const values = own?.values ?? [];
    return {
      unitOf: model === undefined ? undefined : new Map(units.flatMap(({ nodes, unit }) => nodes.map(name => [name, unit] as const))),
      compiled: compile === undefined || model === undefined ? undefined : { stage: compile.id, model: model.name },
      totalMs: units.reduce((sum, { unit }) => sum + (unit.ms ?? 0), 0),
      sqnrOf:
        values.length === 0
          ? undefined
          : new Map(
              values.flatMap(({ value, comparedWith, sqnrDb }) => {
                const db = typeof sqnrDb === 'number' ? sqnrDb : Number.POSITIVE_INFINITY;
                return [value, comparedWith].map(name => [name, db] as const);
              }),
            ),
    };
  }, [compiled, errors, entry, compile?.id]);
}
