/** `tanren metrics`: prints the figures of the current results. `--save` keeps them as a baseline. */
import { relative } from 'node:path';
import type { JsonObject } from '../../../base/json.js';
import { baselinePath, checkBaselineName, writeBaseline } from '../../../engine/insight/history/baseline.js';
import { encodeGate } from '../../../engine/insight/history/record-run.js';
import { checkGate, type GateResult } from '../../../engine/model/gate-result.js';
import type { Plan, PlannedStage } from '../../../engine/model/plan.js';
import { loadState } from '../../../engine/store/state-log.js';
import { cachesOf } from '../../pipeline/open-cache.js';
import { openHistory } from '../../pipeline/open-history.js';
import { openPlan, type PipelineOptions } from '../../pipeline/open-plan.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { type MetricsColumn, printTables } from '../../render/metrics-table.js';
import { printGates } from '../../render/settled-report.js';
import { type Console, makeConsole } from '../../terminal/console.js';
import { endWithError } from '../../terminal/end-with-error.js';
import { findOutdated, OUTDATED_NOTE } from './outdated.js';
import { currentSnapshot } from './snapshots.js';

export interface MetricsOptions extends PipelineOptions {
  readonly save?: string;
  readonly json: boolean;
}

interface Figures {
  readonly stage: PlannedStage;
  readonly metrics: JsonObject;
}

export async function runMetrics(targets: readonly string[], options: MetricsOptions): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  const opened = await openPlan(options, targets, console);
  if (opened === undefined) return EXIT.usage;
  const { plan } = opened;
  const cache = cachesOf(options);
  const accepted = loadState(cache.state(plan.pipeline)).state.stages;
  const wanted = new Set(opened.targets === 'all' ? plan.stages.keys() : opened.targets);
  const figures = [...plan.stages.values()].flatMap((stage): Figures[] => {
    const metrics = wanted.has(stage.id) ? accepted.get(stage.id)?.metrics : undefined;
    return metrics === undefined ? [] : [{ stage, metrics }];
  });
  const outdated = figures.length === 0 ? new Set<string>() : await findOutdated(plan, options, openHistory(options.file, console).at(-1));
  const gates = figures.flatMap(({ stage, metrics }) => stage.gate.map(gate => checkGate(stage.id, gate, metrics)));
  if (options.json) {
    const stages = figures.map(({ stage, metrics }) => ({
      stage: stage.id,
      metrics,
      ...(outdated.has(stage.id) ? { outdated: true } : {}),
    }));
    console.json({ stages, gates: gates.map(encodeGate) });
  } else if (figures.length === 0)
    console.line(opened.targets === 'all' ? 'no stage has metrics yet' : `no metrics yet: ${opened.targets.join(', ')}`);
  else print(figures, gates, outdated, console);
  if (options.save === undefined) return EXIT.built;
  try {
    save(options.save, plan, wanted, options, console);
    return EXIT.built;
  } catch (error) {
    return endWithError(error, console, { json: false }, EXIT.usage);
  }
}

function print(figures: readonly Figures[], gates: readonly GateResult[], outdated: ReadonlySet<string>, console: Console): void {
  const tables = new Map<string, MetricsColumn[]>();
  for (const { stage, metrics } of figures) {
    const name = stage.plugin.name;
    tables.set(name, [
      ...(tables.get(name) ?? []),
      { stage: outdated.has(stage.id) ? `${stage.id} (outdated)` : stage.id, metrics, previous: undefined },
    ]);
  }
  printTables([...tables.values()], console);
  printGates(gates, console, outdated);
  if (figures.some(({ stage }) => outdated.has(stage.id)))
    for (const line of ['', OUTDATED_NOTE]) console.line(console.style('yellow', line));
}

function save(name: string, plan: Plan, wanted: ReadonlySet<string>, options: MetricsOptions, console: Console): void {
  checkBaselineName(name);
  const now = currentSnapshot({ options, plan, cache: cachesOf(options), runs: openHistory(options.file, console) });
  const path = baselinePath(plan, name);
  const stages = new Map([...now.stages].filter(([stage]) => wanted.has(stage)));
  writeBaseline(path, { ...now, stages });
  console.line('');
  console.line(
    `wrote ${relative(process.cwd(), path)}: params, metrics and gates of ${stages.size} stages; tanren diff ${name} compares with it`,
  );
}
