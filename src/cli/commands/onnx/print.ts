/** `tanren onnx print FILE`: prints a model in the text form, with long constants shortened. */

import { readModel } from '../../../onnx/serde/model-file.js';
import { printModel } from '../../../onnx/text/print.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { type OnnxOptions, runOnnx } from './command.js';

export interface PrintCommandOptions extends OnnxOptions {
  readonly elements: number;
}

export function runOnnxPrint(path: string, options: PrintCommandOptions): Promise<ExitCode> {
  return runOnnx(options, async console => {
    const text = printModel(await readModel(path), { maxElements: options.elements });
    if (options.json) console.json({ text });
    else console.raw(text);
    return EXIT.built;
  });
}
