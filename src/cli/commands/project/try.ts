/** `tanren try`: what an ONNX model becomes on the NPU in each preset, in one command and one table. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { build } from '../../../engine/build.js';
import { lockFileOf } from '../../../engine/lockfile/lock-path.js';
import type { Plan } from '../../../engine/model/plan.js';
import type { BuildReport } from '../../../engine/model/report.js';
import { makeEnginePorts } from '../../pipeline/engine-ports.js';
import { openPlan } from '../../pipeline/open-plan.js';
import { setBuildProcessFlags } from '../../process/build-process-flags.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { abortOnSignals } from '../../process/interruption.js';
import { makeBuildRenderer } from '../../render/build-renderer.js';
import { exitCodeOf } from '../../render/build-report.js';
import { formatFailure } from '../../render/format-failure.js';
import { type Console, makeConsole } from '../../terminal/console.js';
import { widest } from '../../terminal/display-width.js';
import { endWithError } from '../../terminal/end-with-error.js';
import { measureAgreement } from './try/agreement.js';
import { lintModel } from './try/lint-model.js';
import { adviseNext } from './try/next-steps.js';
import { composeProject, type TryProject } from './try/project.js';
import { formatTried, type Tried } from './try/tried.js';

export interface TryOptions {
  /** Where to write the pipeline; without it, nothing is kept. */
  readonly save?: string;
  readonly json: boolean;
}

/** @param images folders or files; none: example images stand in. */
export async function runTry(model: string, images: readonly string[], options: TryOptions): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  const scratch = options.save === undefined ? await mkdtemp(join(tmpdir(), 'tanren-try-')) : undefined;
  try {
    setBuildProcessFlags();
    const file = options.save ?? join(scratch ?? '', 'pipeline.yaml');
    const project = await composeProject({ model, images, file, keep: options.save === undefined ? 'no' : 'yes' });
    const built = await buildProject(project, console);
    if (built === undefined) return EXIT.usage;
    const { plan, report } = built;
    for (const { stage, outcome } of report.stages.values())
      if (outcome.kind === 'failed') for (const line of formatFailure(stage, outcome.failure, console)) console.problem('error', line);
    if (report.conclusion === 'cancelled') return exitCodeOf(report);
    const tried = await conclude(project, plan, report);
    if (options.json) console.json({ model: basename(model), ...tried });
    else for (const line of formatTried(basename(model), tried, console)) console.line(line);
    if (options.save !== undefined && !options.json)
      console.line(`\nwrote ${options.save}: tanren build -f ${options.save} builds the same`);
    return exitCodeOf(report);
  } catch (error) {
    return endWithError(error, console, options, EXIT.usage);
  } finally {
    if (scratch !== undefined) await rm(scratch, { recursive: true, force: true });
  }
}

/** Undefined after diagnostics of the drafted file are printed. */
async function buildProject({ file, keep }: TryProject, console: Console): Promise<{ plan: Plan; report: BuildReport } | undefined> {
  const opened = await openPlan({ file, param: [], paramsFile: [] }, [], console, 'keep');
  if (opened === undefined) return undefined;
  const { plan } = opened;
  // Without a terminal, the table is all that is printed.
  const renderer = process.stdout.isTTY ? makeBuildRenderer(console, widest(plan.stages.keys())) : undefined;
  const ports = makeEnginePorts(renderer?.emit ?? (() => undefined), abortOnSignals());
  const lock = keep === 'yes' ? { lock: { file: lockFileOf(file, process.cwd()), use: 'write' as const } } : {};
  const report = await build(plan, { targets: 'all', failures: 'keep-going', force: 'never', ...lock }, ports).finally(() =>
    renderer?.end(),
  );
  return { plan, report };
}

async function conclude(project: TryProject, plan: Plan, report: BuildReport): Promise<Tried> {
  const pathOf = (stage: string, port: string): string | undefined => {
    const path = [...report.stages.values()].find(one => one.stage === stage)?.artifacts[port];
    return path === undefined ? undefined : join(project.folder, path);
  };
  const network = pathOf('parts', 'network');
  const simplified = network ?? pathOf('simplify', 'model');
  const linted = simplified === undefined ? undefined : await lintModel(simplified);
  const agreement = await measureAgreement(project, plan, pathOf);
  const presets = project.presets.map(preset => {
    const metricsOf = (stage: string) => [...report.stages.values()].find(one => one.stage === `${stage}@${preset}`)?.metrics;
    return { preset, compile: metricsOf('compile'), verify: metricsOf('verify'), agreement: agreement.byPreset.get(preset) };
  });
  const tried: Omit<Tried, 'next'> = {
    what: project.what,
    nodes: { file: project.nodes, simplified: linted?.nodes, of: network === undefined ? 'model' : 'network' },
    images: project.images,
    ...(agreement.unreadable === undefined ? {} : { unreadable: agreement.unreadable }),
    rows: [
      ...presets.map(({ preset, compile, verify, agreement: agreed }) => ({
        preset,
        ...readCompiled(compile?.total),
        sqnrDb: readFigure(verify?.worst, 'sqnrDb'),
        agreement: agreed,
      })),
      ...(linted?.float ?? []).filter(({ preset }) => !project.presets.includes(preset)),
    ],
  };
  return { ...tried, next: adviseNext(tried, linted, { model: project.model, save: project.keep === 'yes' ? 'done' : 'open' }) };
}

function readCompiled(total: unknown) {
  return {
    npuShare: readFigure(total, 'npuMacShare'),
    cpuNodes: readFigure(total, 'cpuNodes'),
    parts: readFigure(total, 'npuParts'),
    estimatedMs: readFigure(total, 'estimatedMs'),
  };
}

function readFigure(value: unknown, name: string): number | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const figure = Object.entries(value).find(([key]) => key === name)?.[1];
  if (figure === 'equal') return Number.POSITIVE_INFINITY;
  return typeof figure === 'number' ? figure : undefined;
}
