/** Runs `compile`: chooses the target, compiles every model, then writes report, metrics and bundle. */
import { join } from 'node:path';
import type { Json } from '../../src/base/json.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { readModel, writeModel } from '../../src/onnx/serde/model-file.js';
import { openCaptured } from '../../src/runtime/capture/captured.js';
import { evaluate } from '../../src/runtime/session/evaluate.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile, writeMetricsFile } from '../../src/stage/json-file.js';
import { getInputPath, getInputRecord, getOutputPath, readInput } from '../../src/stage/paths.js';
import { StageError } from '../../src/stage/stage-error.js';
import type { GoldenFeeds } from '../../src/target/bundle/golden.js';
import { capturedGoldenFeeds, randomGoldenFeeds } from '../../src/target/bundle/golden-feeds.js';
import { writeBundle } from '../../src/target/bundle/write-bundle.js';
import { type CompiledModel, compileModel } from '../../src/target/compile-model.js';
import { chooseTarget, getBuiltInProfile, type Target } from '../../src/target/profile/choose-target.js';
import { COMPILE_REPORT_FORMAT, type CompileReport } from '../../src/target/report/compile-report.js';
import { TargetError } from '../../src/target/report/target-error.js';
import { checkPins, findSizeNames, pinSizes } from '../../src/target/units/pin-sizes.js';
import { makeMetrics } from './metrics.js';
import type { CompileParams } from './params.js';
import { countRois } from './roi-counts.js';

type CompileJob = StageJob<CompileParams>;

/**
 * @throws TargetError as chooseTarget and compileModel, `unknown-size`; StageError `compile-input`, `unknown-model`; OnnxError of reading and shape inference.
 */
export async function runCompile(job: CompileJob): Promise<void> {
  const { params, outputs, context } = job;
  const target = await readTarget(job);
  const models = await readModels(job);
  checkPins(
    params.pin,
    models.map(({ model }) => model),
  );
  const rois = await countRois(
    job,
    models.map(({ name }) => name),
  );
  const compiled: (Compiled & CompiledModel)[] = [];
  for (const { name, model, path } of models) {
    context.signal.throwIfAborted();
    const isPinned = findSizeNames(model).some(size => Object.hasOwn(params.pin, size));
    const pinned = isPinned ? pinSizes(model, params.pin) : model;
    const counts = rois.get(name);
    const result = await compileModel(name, pinned, target, {
      evaluate,
      undocumented: params.undocumented,
      accept: 'quantized',
      ...(counts === undefined ? {} : { batches: { rois: counts, sizes: params.batches } }),
    });
    const wholePath = isPinned ? await writePinned(job, name, pinned) : path;
    compiled.push({ name, sourcePath: path, wholePath, whole: pinned, golden: await readGolden(job, name, pinned), ...result });
    context.log('info', describe(result));
    context.progress(compiled.length, models.length, 'models');
  }
  const report: CompileReport = { format: COMPILE_REPORT_FORMAT, target: target.identity, models: compiled.map(one => one.report) };
  await writeBundle({
    folder: getOutputPath(outputs, 'bundle'),
    report,
    models: compiled.map(({ name, sourcePath, wholePath, whole, golden, report: { parts: reports }, parts }) => ({
      name,
      sourcePath,
      wholePath,
      whole,
      golden,
      parts: reports.flatMap((part, index) => {
        const model = parts[index];
        return model === undefined ? [] : [{ report: part, model }];
      }),
    })),
  });
  await writeJsonFile(getOutputPath(outputs, 'report'), report as unknown as Json);
  await writeMetricsFile(getOutputPath(outputs, 'metrics'), makeMetrics(report));
}

interface Compiled {
  readonly name: string;
  readonly sourcePath: string;
  readonly wholePath: string;
  readonly whole: Model;
  readonly golden: readonly GoldenFeeds[];
}

async function readTarget({ params, inputs }: CompileJob): Promise<Target> {
  const { target, device, dtype, software } = params;
  const choice = {
    ...(device === undefined ? {} : { device }),
    ...(dtype === undefined ? {} : { dtype }),
    ...(software === undefined ? {} : { version: software }),
  };
  if (inputs.profile === undefined) {
    if (target !== undefined) return chooseTarget(getBuiltInProfile(target), choice);
    throw new TargetError('target-missing', 'no target is set', { help: 'set `target`, for example ryzen-ai, or connect a `profile`' });
  }
  const chosen = chooseTarget(await readInput(inputs, 'profile', readJsonFile), choice);
  if (target === undefined || target === chosen.identity.profile) return chosen;
  throw new TargetError('target-combination', `the connected profile is "${chosen.identity.profile}", but \`target\` is "${target}"`, {
    help: 'remove `target` or the profile',
  });
}

interface GivenModel {
  readonly name: string;
  readonly model: Model;
  readonly path: string;
}

async function readModels({ inputs }: CompileJob): Promise<readonly GivenModel[]> {
  if ((inputs.model === undefined) === (inputs.models === undefined)) {
    throw new StageError(
      'compile-input',
      `connect either \`model\` or \`models\`, ${inputs.model === undefined ? 'none is connected' : 'both are connected'}`,
    );
  }
  if (inputs.model !== undefined) {
    return [{ name: 'model', model: await readInput(inputs, 'model', readModel), path: getInputPath(inputs, 'model') }];
  }
  const paths = Object.entries(getInputRecord(inputs, 'models')).sort(([a], [b]) => (a < b ? -1 : 1));
  return Promise.all(paths.map(async ([name, path]) => ({ name, model: await readModel(path), path })));
}

/** @returns the path of the model file with pinned sizes. */
async function writePinned({ context }: CompileJob, name: string, model: Model): Promise<string> {
  const path = join(context.scratch, `${name}.onnx`);
  await writeModel(path, model);
  return path;
}

/** Inputs of golden values: captured ones if the part was captured, else random ones. */
async function readGolden({ params, inputs, context }: CompileJob, name: string, model: Model): Promise<readonly GoldenFeeds[]> {
  const captured = inputs.captured === undefined ? undefined : await readInput(inputs, 'captured', openCaptured);
  if (params.golden > 0 && captured?.index.parts.some(part => part.name === name) === true) {
    return capturedGoldenFeeds(model, captured, name, params.golden);
  }
  return randomGoldenFeeds(model, params.golden, sample => context.random(`golden ${name} ${sample}`));
}

function describe({ report: { name, counts, estimate } }: CompiledModel): string {
  const share = (100 * counts.npuMacShare).toFixed(1);
  const { ms, lowMs, highMs } = estimate.npu;
  const parts = `${counts.parts} part${counts.parts === 1 ? '' : 's'}`;
  const { batches } = estimate;
  const best =
    batches === undefined ? '' : `; for ${batches.rois.mean.toFixed(1)} RoIs per image, the estimate is fastest at batch ${batches.best}`;
  return `${name}: ${counts.npuNodes} nodes on the NPU with ${share} % of the MACs, ${counts.cpuNodes} on the CPU, in ${parts}; estimated ${ms.toFixed(1)} ms (${lowMs.toFixed(1)} to ${highMs.toFixed(1)})${best}`;
}
