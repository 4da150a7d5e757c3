/** `tanren lint MODEL --target T`: lists the nodes of a model that an NPU would not run, and why. It checks legality only and writes nothing. */

import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Json } from '../../base/json.js';
import { readModel } from '../../onnx/serde/model-file.js';
import { compileModel } from '../../target/compile-model.js';
import { chooseTarget, getBuiltInProfile, type Target } from '../../target/profile/choose-target.js';
import { COMPILE_REPORT_FORMAT, type Device } from '../../target/report/compile-report.js';
import { TargetError } from '../../target/report/target-error.js';
import { checkPins, pinSizes } from '../../target/units/pin-sizes.js';
import { endWithError } from '../end-with-error.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { makeConsole } from '../render/console.js';
import { formatLint } from '../render/lint-report.js';

export interface LintOptions {
  /** A built-in target or the path of a profile file. */
  readonly target: string;
  readonly device?: string;
  readonly dtype?: string;
  readonly software?: string;
  readonly undocumented: Device;
  readonly pin: Readonly<Record<string, number>>;
  readonly all: boolean;
  readonly json: boolean;
}

export async function runLint(path: string, options: LintOptions): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  try {
    const target = await readTarget(options);
    const model = await readModel(path);
    checkPins(options.pin, [model]);
    const { report } = await compileModel(basename(path), pinSizes(model, options.pin), target, {
      // Loaded only if there are constants to fold; most models have none.
      evaluate: async part => (await import('../../runtime/session/evaluate.js')).evaluate(part),
      undocumented: options.undocumented,
      accept: 'any',
    });
    if (options.json) console.json({ format: COMPILE_REPORT_FORMAT, target: target.identity, models: [report] });
    else
      for (const line of formatLint(report, target.identity, { style: console.style, show: options.all ? 'all' : 'some' }))
        console.line(line);
    return report.legal ? EXIT.built : EXIT.failed;
  } catch (error) {
    return endWithError(error, console, options, EXIT.usage);
  }
}

async function readTarget({ target, device, dtype, software }: LintOptions): Promise<Target> {
  const choice = {
    ...(device === undefined ? {} : { device }),
    ...(dtype === undefined ? {} : { dtype }),
    ...(software === undefined ? {} : { version: software }),
  };
  return chooseTarget(/\.json$/i.test(target) ? await readProfileFile(target) : getBuiltInProfile(target), choice);
}

async function readProfileFile(path: string): Promise<Json> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Json;
  } catch (cause) {
    const reason =
      cause instanceof SyntaxError
        ? `is no JSON: ${cause.message}`
        : `cannot be read: ${cause instanceof Error && 'code' in cause ? cause.code : cause}`;
    throw new TargetError('profile-unreadable', `target profile ${path} ${reason}`, { cause });
  }
}
