/** The built-in plugins, and the module of each. Declarations are light and imported here; a run imports its own code. */
import type { StagePlugin } from '../src/stage/define-stage.js';
import { bench } from './bench/stage.js';
import { calibrate } from './calibrate/stage.js';
import { capture } from './capture/stage.js';
import { command } from './command/stage.js';
import { compile } from './compile/stage.js';
import { correctBiases } from './correct-biases/stage.js';
import { describe } from './describe/stage.js';
import { evaluate } from './evaluate/stage.js';
import { evaluateClasses } from './evaluate-classes/stage.js';
import { evaluateSegmentation } from './evaluate-segmentation/stage.js';
import { exportStage } from './export/stage.js';
import { importStage } from './import/stage.js';
import { quantize } from './quantize/stage.js';
import { refitStatistics } from './refit-statistics/stage.js';
import { report } from './report/stage.js';
import { rewrite } from './rewrite/stage.js';
import { roundWeights } from './round-weights/stage.js';
import { searchRanges } from './search-ranges/stage.js';
import { sensitivity } from './sensitivity/stage.js';
import { simplify } from './simplify/stage.js';
import { split } from './split/stage.js';
import { tileRois } from './tile-rois/stage.js';
import { toolchain } from './toolchain/stage.js';
import { verify } from './verify/stage.js';
import { widenTypes } from './widen-types/stage.js';

export interface BuiltInPlugin {
  readonly plugin: StagePlugin;
  /** Path of the compiled declaration under the installation's dist/, with slashes: the root of the plugin's code digest, and what a worker imports. */
  readonly module: string;
}

/** In the order of `tanren plugins`. */
export const BUILT_IN_PLUGINS: readonly BuiltInPlugin[] = [
  { plugin: exportStage, module: 'stages/export/stage.js' },
  { plugin: importStage, module: 'stages/import/stage.js' },
  { plugin: split, module: 'stages/split/stage.js' },
  { plugin: describe, module: 'stages/describe/stage.js' },
  { plugin: simplify, module: 'stages/simplify/stage.js' },
  { plugin: rewrite, module: 'stages/rewrite/stage.js' },
  { plugin: roundWeights, module: 'stages/round-weights/stage.js' },
  { plugin: capture, module: 'stages/capture/stage.js' },
  { plugin: refitStatistics, module: 'stages/refit-statistics/stage.js' },
  { plugin: calibrate, module: 'stages/calibrate/stage.js' },
  { plugin: searchRanges, module: 'stages/search-ranges/stage.js' },
  { plugin: widenTypes, module: 'stages/widen-types/stage.js' },
  { plugin: quantize, module: 'stages/quantize/stage.js' },
  { plugin: correctBiases, module: 'stages/correct-biases/stage.js' },
  { plugin: sensitivity, module: 'stages/sensitivity/stage.js' },
  { plugin: tileRois, module: 'stages/tile-rois/stage.js' },
  { plugin: compile, module: 'stages/compile/stage.js' },
  { plugin: verify, module: 'stages/verify/stage.js' },
  { plugin: bench, module: 'stages/bench/stage.js' },
  { plugin: evaluate, module: 'stages/evaluate/stage.js' },
  { plugin: evaluateClasses, module: 'stages/evaluate-classes/stage.js' },
  { plugin: evaluateSegmentation, module: 'stages/evaluate-segmentation/stage.js' },
  { plugin: report, module: 'stages/report/stage.js' },
  { plugin: toolchain, module: 'stages/toolchain/stage.js' },
  { plugin: command, module: 'stages/command/stage.js' },
];
