/** `tanren onnx stats FILE`: measures a model: nodes, parameters, MACs and activation memory. */

import { basename } from 'node:path';
import { countOf } from '../../../base/text/count-of.js';
import { formatBytes } from '../../../base/text/format.js';
import { type ModelStats, measureModel } from '../../../onnx/analysis/model-stats.js';
import { inferShapes } from '../../../onnx/shape-inference/infer-shapes.js';
import { pinShapes } from '../../../onnx/surgery/pin-shapes.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { formatTable } from '../../terminal/text-table.js';
import { type OnnxOptions, readSound, runOnnx } from './command.js';
import { type PinOptions, pinsOf } from './pins.js';

export interface StatsOptions extends OnnxOptions, PinOptions {
  /** The number of nodes to list, by MACs in descending order. */
  readonly top: number;
}

export function runOnnxStats(path: string, options: StatsOptions): Promise<ExitCode> {
  return runOnnx(options, async console => {
    const model = await readSound(path);
    pinShapes(model, pinsOf(options, [model]));
    const stats = measureModel(model, inferShapes(model));
    if (options.json) console.json({ file: basename(path), ...stats });
    else for (const line of formatStats(basename(path), stats, options.top)) console.line(line);
    return EXIT.built;
  });
}

function formatStats(file: string, stats: ModelStats, top: number): readonly string[] {
  const inner = stats.innerNodes === 0 ? '' : `, ${stats.innerNodes} more in sub-graphs`;
  const largest = stats.perNode
    .filter(({ macs }) => (macs ?? 0) > 0)
    .toSorted((a, b) => (b.macs ?? 0) - (a.macs ?? 0))
    .slice(0, top);
  return [
    `${file}: ${countOf(stats.nodes, 'node')}${inner}`,
    `  parameters   ${stats.parameters.toLocaleString('en-US')}, ${formatBytes(stats.parameterBytes)}`,
    `  MACs         ${stats.macs.toLocaleString('en-US')}`,
    `  activations  ${formatBytes(stats.activationBytes)} in total, ${formatBytes(stats.peakActivationBytes)} at the peak`,
    ...(stats.unknownNodes === 0
      ? []
      : [`  unknown      the sizes of ${countOf(stats.unknownNodes, 'node')}, which no sum includes; set them with --dim or --shape`]),
    '',
    ...formatTable([['operator', 'nodes'], ...Object.entries(stats.operators).map(([operator, count]) => [operator, String(count)])]),
    ...(largest.length === 0
      ? []
      : ['', ...formatTable([['node', 'operator', 'output', 'MACs', 'parameters', 'activations'], ...largest.map(rowOf)])]),
  ];
}

function rowOf({ node, operator, outputs, macs, parameters, activationBytes }: ModelStats['perNode'][number]): string[] {
  const numbers = [macs, parameters].map(x => (x === null ? '–' : x.toLocaleString('en-US')));
  return [node, operator, outputs[0]?.shape ?? '', ...numbers, activationBytes === null ? '–' : formatBytes(activationBytes)];
}
