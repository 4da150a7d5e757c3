/**
 * `tanren onnx check FILE`: checks that a model is well formed and that its shapes are consistent.
 * It lists every problem and what could not be checked; exit code 1 if there is a problem.
 */

import { basename } from 'node:path';
import { countOf } from '../../../base/text/count-of.js';
import { checkModel } from '../../../onnx/check/check-model.js';
import { listUnchecked } from '../../../onnx/check/operators.js';
import type { Model } from '../../../onnx/ir/model.js';
import { OnnxError } from '../../../onnx/ir/onnx-error.js';
import { readModel } from '../../../onnx/serde/model-file.js';
import { inferShapes } from '../../../onnx/shape-inference/infer-shapes.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { type OnnxOptions, runOnnx } from './command.js';

export function runOnnxCheck(path: string, options: OnnxOptions): Promise<ExitCode> {
  return runOnnx(options, async console => {
    const model = await readModel(path);
    const problems = findProblems(model);
    const unchecked = listUnchecked(model);
    if (options.json) console.json({ file: basename(path), problems, unchecked });
    else {
      for (const { code, message, help } of problems) console.line(`${code}: ${message}${help === undefined ? '' : `\n  help: ${help}`}`);
      for (const { domain, nodes, reason } of unchecked) console.line(`not checked: ${countOf(nodes, 'node')} of ${domain}: ${reason}`);
      console.line(
        problems.length === 0 ? `${basename(path)} is well formed` : `${basename(path)} has ${countOf(problems.length, 'problem')}`,
      );
    }
    return problems.length === 0 ? EXIT.built : EXIT.failed;
  });
}

interface Problem {
  readonly code: string;
  readonly message: string;
  readonly help?: string | undefined;
}

/** Shapes are checked only if the structure is sound. */
function findProblems(model: Model): readonly Problem[] {
  const problems = checkModel(model);
  if (problems.length > 0) return problems;
  try {
    inferShapes(model);
    return [];
  } catch (error) {
    if (!(error instanceof OnnxError)) throw error;
    return [{ code: error.code, message: error.message, help: error.help }];
  }
}
