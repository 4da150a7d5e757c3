/** `tanren compare-dumps MODEL FOLDER`: tensors that a device dumped against the simulation of the model, layer by layer. */
import { readModel } from '../../../onnx/serde/model-file.js';
import { findPosition } from '../../../quant/integers/power-of-two.js';
import { compareDumps, prepareForDumps } from '../../../quant/simulate/dumps/compare-dumps.js';
import type { Layout } from '../../../quant/simulate/dumps/dumped-tensor.js';
import type { RoundingMode } from '../../../quant/simulate/steps/rounding-mode.js';
import { listModelInputs } from '../../../runtime/session/model-inputs.js';
import { checkPins, pinSizes } from '../../../target/units/pin-sizes.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { formatDumps } from '../../render/dump-report.js';
import { makeConsole } from '../../terminal/console.js';
import { endWithError } from '../../terminal/end-with-error.js';
import { readDumpFolder } from './dump-files.js';

export interface CompareDumpsOptions {
  readonly json: boolean;
  readonly all: boolean;
  /** 'auto': those that fit the scales of the model. */
  readonly rounding: RoundingMode | 'auto';
  readonly layout: Layout;
  readonly tolerance: number;
  readonly pin: Readonly<Record<string, number>>;
}

export async function runCompareDumps(path: string, folder: string, options: CompareDumpsOptions): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  try {
    const given = await readModel(path);
    checkPins(options.pin, [given]);
    const model = pinSizes(given, options.pin);
    const values = prepareForDumps(model);
    const { dumps, inputs, unknown } = await readDumpFolder(folder, { values, inputs: listModelInputs(model), layout: options.layout });
    const isShifted = values.every(({ scale }) => findPosition(scale) !== undefined);
    const fitting: readonly RoundingMode[] = isShifted ? ['pow2-dpu', 'pow2-py3', 'pow2-std'] : ['ort', 'tflite'];
    const comparison = await compareDumps(model, values, {
      dumps,
      inputs,
      roundings: options.rounding === 'auto' ? fitting : [options.rounding],
      tolerance: options.tolerance,
      warn: message => console.problem('warning', `warning: ${message}`),
    });
    const missing = values.length - comparison.values.length;
    if (options.json) console.json({ ...comparison, notDumped: missing, unknownFiles: unknown });
    else
      for (const line of formatDumps(comparison, { missing, unknown, show: options.all ? 'all' : 'some', style: console.style }))
        console.line(line);
    return comparison.first === undefined ? EXIT.built : EXIT.failed;
  } catch (error) {
    return endWithError(error, console, options, EXIT.usage);
  }
}
