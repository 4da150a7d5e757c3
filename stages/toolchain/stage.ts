/** Declaration of the `toolchain` plugin: runs an external compiler by its description, and reads findings and figures from its log. */
import { defineStage } from '../../src/stage/define-stage.js';
import { port } from '../../src/stage/ports.js';
import { checkDescription } from './check-description.js';
import { findTool } from './described-tools.js';
import { TOOLCHAIN_PARAMS } from './params.js';

export const toolchain = defineStage({
  name: 'toolchain',
  version: 1,
  description:
    'Runs an external compiler by its description: checks its version, reads findings and figures from its log, keeps what it wrote.',
  params: TOOLCHAIN_PARAMS,
  inputs: {
    model: port('any', 'The model, in the form that the compiler takes: ONNX for openvino, a quantized .tflite file for vela.'),
  },
  outputs: {
    compiled: port('folder', 'What the compiler wrote.'),
    report: port('report', 'Version, findings and figures of the log.'),
    metrics: port('metrics', 'Figures of the log, and the number of findings by severity.'),
  },
  headlines: [],
  determinism: 'exact',
  runsModels: 'never',
  tools: params => {
    const tool = findTool(params);
    return tool === undefined ? [] : [...new Set([tool.run[0] ?? '', tool.version.run[0] ?? ''])];
  },
  checkParams: params => {
    if ((params.tool === undefined) === (params.describe === undefined))
      return ['set either `tool`, a described compiler, or `describe`, a description of your own'];
    return params.describe === undefined ? [] : checkDescription(params.describe);
  },
  run: async job => (await import('./run.js')).runToolchain(job),
});
