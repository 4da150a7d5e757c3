/** The params `runner` and `external` of every plugin that can run models on a device. */
import type { JsonObject } from '../../base/json.js';
import type { FromSchema } from '../../base/schema/from-schema.js';

export const ROUNDING_MODES = ['ort', 'pow2-dpu', 'pow2-py3', 'pow2-std', 'tflite'] as const;

/** The arithmetic that `runner: simulate` computes. */
const SIMULATE_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  description: 'The arithmetic of the device, with runner: simulate.',
  properties: {
    arithmetic: {
      type: 'string',
      enum: ['integers', 'bf16', 'bfp16'],
      default: 'integers',
      description:
        'integers: of a quantized model. bf16, bfp16: weights, inputs and the result of each operator of a float model are rounded to this format.',
    },
    rounding: {
      type: 'string',
      enum: ROUNDING_MODES,
      default: 'pow2-dpu',
      description:
        'How sums are rounded to integers. ort: as the integer kernels of ONNX Runtime. tflite: as the reference kernels of TensorFlow Lite. For power-of-two scales: pow2-dpu, halves up; pow2-py3, halves to even; pow2-std, halves away from zero.',
    },
  },
} as const;

const seconds = (preset: number, description: string) =>
  ({ type: 'number', exclusiveMinimum: 0, maximum: 86_400, default: preset, description }) as const;

/** Properties of the params schema, to spread into a plugin's `properties`. */
export const RUNNER_SCHEMA = {
  runner: {
    type: 'string',
    enum: ['cpu', 'simulate', 'external'],
    default: 'cpu',
    description:
      'Where the models run. cpu: ONNX Runtime on this machine. simulate: here, in the arithmetic of a device; see `simulate`. external: your own program on your device; see `external`.',
  },
  simulate: SIMULATE_SCHEMA,
  external: {
    type: 'object',
    additionalProperties: false,
    required: ['command'],
    description: 'The program that runs the models on a device, by the runner protocol.',
    properties: {
      command: {
        type: 'array',
        items: { type: 'string' },
        minItems: 1,
        description:
          'Program and arguments. "./name" is a file of the `runner` input; any other program is found on the PATH, and its digest is part of the key.',
      },
      device: {
        type: 'string',
        enum: ['npu', 'gpu', 'cpu'],
        default: 'npu',
        description: 'The device that must run the models. If the runner uses the CPU instead, the stage fails.',
      },
      label: {
        type: 'string',
        default: '',
        description: 'Your name for the device, for tables. Two boards with the same command need two labels.',
      },
      cpuFallback: {
        type: 'string',
        enum: ['refuse', 'allow'],
        default: 'refuse',
        description: 'Whether results of a model that ran on the CPU instead of the device are accepted, with a warning.',
      },
      minDeviceShare: {
        type: 'number',
        minimum: 0,
        maximum: 1,
        default: 0.5,
        description:
          "Smallest share of a model's nodes that must run on the device; below it the model counts as fallen back to the CPU. At least one node is always required.",
      },
      models: {
        type: 'string',
        enum: ['path', 'bytes'],
        default: 'path',
        description: "path: the runner reads the model's file. bytes: the model is sent, for a runner on another machine.",
      },
      here: {
        type: 'array',
        items: { type: 'string' },
        uniqueItems: true,
        default: [],
        description: 'Names of connected models that run on this machine instead: for a device that runs some parts of a detector.',
      },
      options: { type: 'object', default: {}, description: 'Passed to the runner with every model, unchanged.' },
      timeouts: {
        type: 'object',
        additionalProperties: false,
        default: {},
        description: 'Limits in seconds.',
        properties: {
          startSeconds: seconds(60, 'From start to identity.'),
          loadSeconds: seconds(1800, 'For loading one model; on the first load, a device may compile it.'),
          runSeconds: seconds(120, 'For one run of a model.'),
        },
      },
    },
  },
} as const;

/** Part of a plugin's params. `external` is present with `runner: external`. */
export type RunnerParams = FromSchema<{ readonly type: 'object'; readonly properties: typeof RUNNER_SCHEMA }>;

export type SimulateParams = NonNullable<RunnerParams['simulate']>;

/** Settings of `runner: simulate`, with the defaults where the params have none; undefined for other runners. */
export function simulateParams({ runner, simulate }: RunnerParams): SimulateParams | undefined {
  return runner === 'simulate' ? (simulate ?? { arithmetic: 'integers', rounding: 'pow2-dpu' }) : undefined;
}

export type ExternalParams = NonNullable<RunnerParams['external']>;

export type DeviceKind = ExternalParams['device'];

export type PhaseTimeouts = ExternalParams['timeouts'];

export const RUNNER_INPUT = 'runner';

/** For `determinism` of a plugin: results from a device are never compared byte for byte. */
export function determinismOf({ runner }: RunnerParams): 'exact' | 'measured' {
  return runner === 'external' ? 'measured' : 'exact';
}

/** For `tools` of a plugin: the program, unless it is a file of the `runner` input. */
export function runnerTools({ runner, external }: RunnerParams): readonly string[] {
  const program = runner === 'external' ? external?.command[0] : undefined;
  return program === undefined || program.startsWith('./') ? [] : [program];
}

/** For `device` of a plugin: stages with equal commands, devices and labels use the same device. */
export function runnerDevice({ runner, external }: RunnerParams): JsonObject | undefined {
  if (runner !== 'external' || external === undefined) return undefined;
  return { command: external.command, device: external.device, label: external.label };
}

/** For `checkParams` of a plugin. */
export function checkRunnerParams({ runner, external, simulate }: RunnerParams): readonly string[] {
  if (runner !== 'simulate' && simulate !== undefined) return ['`simulate` requires runner: simulate'];
  if (runner === 'external' && external === undefined)
    return ['runner: external requires `external` with the command that starts the runner'];
  if (runner !== 'external' && external !== undefined) return ['`external` requires runner: external'];
  return external?.command[0] === '' ? ['external.command[0], the program, is empty'] : [];
}
