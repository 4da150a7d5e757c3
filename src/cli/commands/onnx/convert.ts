/**
 * `tanren onnx convert IN OUT`: converts a model to another opset, pins its dims, or moves its weights into or out of the file.
 * It names each node that cannot be converted.
 */

import { basename } from 'node:path';
import { countOf } from '../../../base/text/count-of.js';
import { checkModel, findNewProblem } from '../../../onnx/check/check-model.js';
import { OnnxError } from '../../../onnx/ir/onnx-error.js';
import { convertOpset } from '../../../onnx/opset/convert-opset.js';
import { inferShapes, writeTypes } from '../../../onnx/shape-inference/infer-shapes.js';
import { type PinnedDim, pinShapes } from '../../../onnx/surgery/pin-shapes.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { type OnnxOptions, readSound, runOnnx, type Weights, writeResult } from './command.js';
import { type PinOptions, pinsOf } from './pins.js';

export interface ConvertOptions extends OnnxOptions, PinOptions {
  readonly opset?: number;
  readonly batch?: PinnedDim;
  readonly weights: Weights;
}

export function runOnnxConvert(from: string, to: string, options: ConvertOptions): Promise<ExitCode> {
  return runOnnx(options, async console => {
    const model = await readSound(from);
    const before = checkModel(model);
    const pinned = pinShapes(model, { ...pinsOf(options, [model]), batch: options.batch ?? 'free' });
    const conversion = convertOpset(model, options.opset ?? model.opsets.get('') ?? 1);
    if (pinned.length > 0 || conversion.steps.length > 0) writeTypes(model, inferShapes(model));
    const problem = findNewProblem(before, checkModel(model));
    if (problem !== undefined) throw new OnnxError('opset-conversion', problem.message, problem);
    await writeResult(to, model, options.weights);
    if (options.json) console.json({ file: basename(to), pinned, ...conversion });
    else {
      for (const { input, before, after } of pinned) console.line(`${input}: ${before} became ${after}`);
      const converted =
        conversion.from === conversion.to ? '' : `, from ${conversion.from}: ${countOf(conversion.steps.length, 'node')} converted`;
      console.line(`${basename(to)}: opset ${conversion.to}${converted}`);
    }
    return EXIT.built;
  });
}
