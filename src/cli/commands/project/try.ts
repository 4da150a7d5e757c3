/** `tanren try`: what an ONNX model becomes on the NPU in each preset, in one command and one table. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { isJsonObject } from '../../../base/json.js';
import { build } from '../../../engine/build.js';
import { lockFileOf } from '../../../engine/lockfile/lock-path.js';
import type { Failure } from '../../../engine/model/failure.js';
import type { Plan, StageId } from '../../../engine/model/plan.js';
import type { BuildReport, StageReport } from '../../../engine/model/report.js';
import { makeEnginePorts } from '../../pipeline/engine-ports.js';
import { openPlan } from '../../pipeline/open-plan.js';
import { setBuildProcessFlags } from '../../process/build-process-flags.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { abortOnSignals } from '../../process/interruption.js';
import { makeBuildRenderer } from '../../render/build-renderer.js';
import { exitCodeOf } from '../../render/build-report.js';
import { formatFailure } from '../../render/format-failure.js';
import { type Console, makeConsole } from '../../terminal/console.js';
import { nameColumns } from '../../terminal/display-width.js';
import { endWithError } from '../../terminal/end-with-error.js';
import type { GivenSize } from './init/image-size.js';
import { type StatedInput, statedInputs } from './init/stated-inputs.js';
import { measureAgreement } from './try/agreement.js';
import { lintModel } from './try/lint-model.js';
import { adviseNext } from './try/next-steps.js';
import { composeProject, type TryProject } from './try/project.js';
import { formatTried, type Tried, type TriedRow } from './try/tried.js';

export interface TryOptions {
  /** Where to write the pipeline; without it, nothing is kept. */
  readonly save?: string;
  readonly json: boolean;
  readonly size?: GivenSize;
  readonly input: readonly StatedInput[];
}

/** @param images folders or files; none: example images stand in. */
export async function runTry(model: string, images: readonly string[], options: TryOptions): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  const scratch = options.save === undefined ? await mkdtemp(join(tmpdir(), 'tanren-try-')) : undefined;
  try {
    setBuildProcessFlags();
    const file = options.save ?? join(scratch ?? '', 'pipeline.yaml');
    const project = await composeProject({
      model,
      images,
      file,
      keep: options.save === undefined ? 'no' : 'yes',
      size: options.size,
      inputs: statedInputs(options.input),
    });
    const built = await buildProject(project, console);
    if (built === undefined) return EXIT.usage;
    const { plan, report } = built;
    const failures = listFailures(report);
    for (const { stage, failure } of failures)
      for (const line of formatFailure(stage, scratch === undefined ? failure : { ...failure, logPath: undefined }, console))
        console.problem('error', line);
    if (report.conclusion === 'cancelled') return exitCodeOf(report);
    const tried = await conclude(project, plan, report);
    if (options.json) console.json({ model: basename(model), ...tried });
    else for (const line of formatTried(basename(model), tried, console)) console.line(line);
    if (options.save !== undefined && !options.json)
      console.line(`\nwrote ${options.save}: tanren build -f ${options.save} builds the same`);
    return failures.length === 0 ? EXIT.built : EXIT.failed;
  } catch (error) {
    return endWithError(error, console, options, EXIT.usage);
  } finally {
    if (scratch !== undefined) await rm(scratch, { recursive: true, force: true });
  }
}

/** The stages without an answer. A collapse is one: the table has it. */
function listFailures(report: BuildReport): readonly { readonly stage: StageId; readonly failure: Failure }[] {
  return [...report.stages.values()].flatMap(({ stage, outcome }) =>
    outcome.kind === 'failed' && outcome.failure.code !== COLLAPSED ? [{ stage, failure: outcome.failure }] : [],
  );
}

/** The error of `verify` for a model that has lost what the float model computes. */
const COLLAPSED = 'verify-collapsed';

/** Undefined after diagnostics of the drafted file are printed. */
async function buildProject({ file, keep }: TryProject, console: Console): Promise<{ plan: Plan; report: BuildReport } | undefined> {
  const opened = await openPlan({ file, param: [], paramsFile: [] }, [], console, 'keep');
  if (opened === undefined) return undefined;
  const { plan } = opened;
  // Without a terminal, the table is all that is printed.
  const renderer = process.stdout.isTTY ? makeBuildRenderer(console, nameColumns(plan.stages.keys(), console.width())) : undefined;
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
    const stageOf = (name: string) => [...report.stages.values()].find(one => one.stage === `${name}@${preset}`);
    const verify = readVerified(stageOf('verify'));
    return { preset, compile: stageOf('compile')?.metrics, ...verify, agreement: agreement.byPreset.get(preset) };
  });
  const tried: Omit<Tried, 'next'> = {
    what: project.what,
    nodes: { file: project.nodes, simplified: linted?.nodes, of: network === undefined ? 'model' : 'network' },
    images: project.images,
    inputs: project.inputNotes,
    ...(agreement.unreadable === undefined ? {} : { unreadable: agreement.unreadable }),
    failed: listFailures(report).map(({ stage }) => stage),
    rows: [
      ...presets.map(({ preset, compile, verified, collapses, agreement: agreed }) => ({
        preset,
        ...readCompiled(compile?.total),
        ...readErrors(verified),
        agreement: agreed,
        ...(collapses.length === 0 ? {} : { collapses }),
      })),
      ...(linted?.float ?? []).filter(({ preset }) => !project.presets.includes(preset)),
    ],
  };
  return { ...tried, next: adviseNext(tried, linted, { model: project.model, save: project.keep === 'yes' ? 'done' : 'open' }) };
}

/** The metrics of `verify`, which a collapse has too, with its reasons. */
function readVerified(stage: StageReport | undefined): { readonly verified: unknown; readonly collapses: readonly string[] } {
  if (stage?.outcome.kind !== 'failed') return { verified: stage?.metrics, collapses: [] };
  const { code, details } = stage.outcome.failure;
  if (code !== COLLAPSED || !isJsonObject(details)) return { verified: undefined, collapses: [] };
  const { metrics, collapses } = details;
  const reasons = Array.isArray(collapses) ? collapses.filter(reason => typeof reason === 'string') : [];
  return { verified: metrics, collapses: reasons };
}

/** The SQNR of the worst output; behind a selection, with that of the float model, and the share that the quantized model selects too. */
function readErrors(verified: unknown): Pick<TriedRow, 'sqnrDb' | 'commonShare'> {
  const selected = readMember(verified, 'selected');
  const commonShare = readFigure(selected, 'commonShare');
  const sqnrDb = readFigure(readMember(selected ?? verified, 'worst'), 'sqnrDb');
  return { sqnrDb, ...(commonShare === undefined ? {} : { commonShare }) };
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
  const figure = readMember(value, name);
  if (figure === 'equal') return Number.POSITIVE_INFINITY;
  return typeof figure === 'number' ? figure : undefined;
}

function readMember(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}
