/** Built-in descriptions of compilers, after their documentation. */
import type { ToolchainParams, ToolDescription } from './params.js';

/**
 * OpenVINO's model converter: ONNX to the intermediate representation that its devices compile.
 * Source: docs.openvino.ai, "Convert a Model" (`ovc`, its options, and the levels before messages); openvinotoolkit/openvino, tests of the ONNX frontend, for
 * the message about operators.
 */
const OPENVINO: ToolDescription = {
  name: 'OpenVINO model converter',
  version: { run: ['ovc', '--version'], pattern: '(?<version>\\d{4}\\.\\d+\\.\\d+)' },
  run: ['ovc', '{model}', '--output_model', '{output}/model', '{options}'],
  modelName: 'model.onnx',
  findings: [
    { pattern: 'does not support the following ONNX operations:\\s*(?<operator>\\S.*)$', severity: 'error' },
    { pattern: '^\\s*\\[ ERROR \\]\\s*(?<reason>\\S.*)$', severity: 'error' },
    { pattern: '^\\s*\\[ WARNING \\]\\s*(?<reason>\\S.*)$', severity: 'warning' },
  ],
  figures: {},
  required: ['model.xml', 'model.bin'],
  env: {},
};

/**
 * Arm's compiler for Ethos-U: a quantized .tflite file to one with command streams.
 * Source: ethos-u-vela, PERFORMANCE.md for the summary, tflite_supported_operators.py and tflite_model_semantic.py for messages.
 */
const VELA: ToolDescription = {
  name: 'Vela',
  version: { run: ['vela', '--version'], pattern: '(?<version>\\d+\\.\\d+\\.\\d+)' },
  run: ['vela', '{model}', '--output-dir', '{output}', '{options}'],
  modelName: 'model.tflite',
  findings: [
    { pattern: '^\\s*Error:\\s*(?<reason>\\S.*)$', severity: 'error' },
    {
      pattern: "^Warning: (?:Unsupported TensorFlow Lite semantics for )?(?<operator>\\S+) '(?<node>[^']*)'.*Placing on CPU instead",
      continued: '^ (?:- |  )',
      severity: 'refused',
    },
    { pattern: "^\\s*Info:\\s*(?<operator>\\S+) '(?<node>[^']*)' is a CPU only op", severity: 'refused' },
    { pattern: '^\\s*Warning:\\s*(?<reason>\\S.*)$', severity: 'warning' },
  ],
  figures: {
    cpuOperators: '^CPU operators = (?<value>\\d+)',
    npuOperators: '^NPU operators = (?<value>\\d+)',
    sramKib: '^Total SRAM used\\s+(?<value>[\\d.]+) KiB',
    macs: '^Neural network macs\\s+(?<value>\\d+) MACs/batch',
    estimatedCycles: '^Total cycles\\s+(?<value>\\d+) cycles/batch',
    estimatedMs: '^Batch Inference time\\s+(?<value>[\\d.]+) ms',
  },
  required: ['*_vela.tflite'],
  env: {},
};

const DESCRIBED_TOOLS: Readonly<Record<'openvino' | 'vela', ToolDescription>> = { openvino: OPENVINO, vela: VELA };

/** Undefined only for params that `checkParams` refuses. */
export function findTool({ tool, describe }: ToolchainParams): ToolDescription | undefined {
  return describe ?? (tool === undefined ? undefined : DESCRIBED_TOOLS[tool]);
}
