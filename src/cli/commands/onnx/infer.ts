/** `tanren onnx infer IN OUT`: infers the dtype and shape of every value and writes them into the model. Dims can be pinned first. */
import { basename } from 'node:path';
import type { Model } from '../../../onnx/ir/model.js';
import { isStatic } from '../../../onnx/shape-inference/context/dims.js';
import { inferShapes, type KnownTypes, writeTypes } from '../../../onnx/shape-inference/infer-shapes.js';
import { pinShapes } from '../../../onnx/surgery/pin-shapes.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { type OnnxOptions, readSound, runOnnx, type Weights, writeResult } from './command.js';
import { type PinOptions, pinsOf } from './pins.js';

export interface InferCommandOptions extends OnnxOptions, PinOptions {
  readonly weights: Weights;
}

export function runOnnxInfer(from: string, to: string, options: InferCommandOptions): Promise<ExitCode> {
  return runOnnx(options, async console => {
    const model = await readSound(from);
    const pinned = pinShapes(model, pinsOf(options, [model]));
    const types = inferShapes(model);
    writeTypes(model, types);
    await writeResult(to, model, options.weights);
    const coverage = measureCoverage(model, types);
    if (options.json) console.json({ file: basename(to), pinned, ...coverage });
    else {
      for (const { input, before, after } of pinned) console.line(`${input}: ${before} became ${after}`);
      const { values, typed, ranked, fixed } = coverage;
      console.line(`${basename(to)}: of ${values} computed values ${typed} have a dtype, ${ranked} a rank, ${fixed} a static shape`);
    }
    return EXIT.built;
  });
}

function measureCoverage({ graph }: Model, types: KnownTypes) {
  const computed = [...graph.values.values()].filter(({ producer }) => producer !== undefined).map(({ id }) => types.get(id));
  return {
    values: computed.length,
    typed: computed.filter(type => type?.dtype !== undefined).length,
    ranked: computed.filter(type => type?.dims !== undefined).length,
    fixed: computed.filter(type => isStatic(type?.dims)).length,
  };
}
