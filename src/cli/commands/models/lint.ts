/** `tanren lint MODEL --target T`: lists the nodes of a model that an NPU would not run, and why. It tries the rewrites that would help, and writes nothing. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Json } from '../../../base/json.js';
import { codeOrText } from '../../../base/system-error.js';
import type { Model } from '../../../onnx/ir/model.js';
import { readModel } from '../../../onnx/serde/model-file.js';
import { adviseModel } from '../../../target/advice/advise.js';
import { compileModel } from '../../../target/compile-model.js';
import { chooseTarget, getBuiltInProfile, type TargetChoice } from '../../../target/profile/choose-target.js';
import { COMPILE_REPORT_FORMAT, type Device } from '../../../target/report/compile-report.js';
import { TargetError } from '../../../target/report/target-error.js';
import { checkPins, pinSizes } from '../../../target/units/pin-sizes.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { formatAdvice } from '../../render/advice-report.js';
import { formatLint } from '../../render/lint-report.js';
import { makeConsole } from '../../terminal/console.js';
import { endWithError } from '../../terminal/end-with-error.js';

export interface LintOptions {
  /** A built-in target or the path of a profile file. */
  readonly target: string;
  readonly device?: string;
  readonly dtype?: string;
  readonly software?: string;
  readonly undocumented: Device;
  readonly largerBatch: Device;
  readonly pin: Readonly<Record<string, number>>;
  readonly all: boolean;
  readonly json: boolean;
}

export async function runLint(path: string, options: LintOptions): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  try {
    const profile = await readProfile(options.target);
    const target = chooseTarget(profile, choiceOf(options));
    const model = await readModel(path);
    checkPins(options.pin, [model]);
    const compile = {
      // Loaded only if there are constants to fold; most models have none.
      evaluate: async (part: Model) => (await import('../../../runtime/session/evaluate.js')).evaluate(part),
      undocumented: options.undocumented,
      largerBatch: options.largerBatch,
    };
    const pinned = pinSizes(model, options.pin);
    const { report } = await compileModel(basename(path), pinned, target, { ...compile, accept: 'any' });
    const { advice } = await adviseModel(pinned, profile, target, compile);
    if (options.json) {
      console.json({
        format: COMPILE_REPORT_FORMAT,
        target: target.identity,
        models: [report],
        advice,
      });
    } else {
      const lines = formatLint(report, target.identity, { style: console.style, show: options.all ? 'all' : 'some' });
      for (const line of [...lines, ...formatAdvice(advice, console.style)]) console.line(line);
    }
    return report.legal ? EXIT.built : EXIT.failed;
  } catch (error) {
    return endWithError(error, console, options, EXIT.usage);
  }
}

function choiceOf({ device, dtype, software }: LintOptions): TargetChoice {
  return {
    ...(device === undefined ? {} : { device }),
    ...(dtype === undefined ? {} : { dtype }),
    ...(software === undefined ? {} : { version: software }),
  };
}

async function readProfile(target: string): Promise<Json> {
  return /\.json$/i.test(target) ? await readProfileFile(target) : getBuiltInProfile(target);
}

async function readProfileFile(path: string): Promise<Json> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Json;
  } catch (cause) {
    const reason = cause instanceof SyntaxError ? `is not JSON: ${cause.message}` : `cannot be read: ${codeOrText(cause)}`;
    throw new TargetError('profile-unreadable', `target profile ${path} ${reason}`, { cause });
  }
}
