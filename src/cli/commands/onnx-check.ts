/** `tanren onnx check FILE`: is a model well formed, and do its shapes go together? Every problem is listed; exit code 1 where there is one. */
import { basename } from 'node:path';
import { checkModel } from '../../onnx/check.js';
import type { Model } from '../../onnx/ir/model.js';
import { OnnxError } from '../../onnx/onnx-error.js';
import { readModel } from '../../onnx/serde/model-file.js';
import { inferShapes } from '../../onnx/shape-inference/infer-shapes.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { countOf, type OnnxOptions, runOnnx } from '../onnx/command.js';

export function runOnnxCheck(path: string, options: OnnxOptions): Promise<ExitCode> {
  return runOnnx(options, async console => {
    const problems = findProblems(await readModel(path));
    if (options.json) console.json({ file: basename(path), problems });
    else {
      for (const { code, message } of problems) console.line(`${code}: ${message}`);
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
}

/** Shapes are looked at where the structure is sound. */
function findProblems(model: Model): readonly Problem[] {
  const problems = checkModel(model);
  if (problems.length > 0) return problems;
  try {
    inferShapes(model);
    return [];
  } catch (error) {
    if (!(error instanceof OnnxError)) throw error;
    return [{ code: error.code, message: error.message }];
  }
}
