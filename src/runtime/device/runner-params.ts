/** How does a stage say where its models run? The params `runner` and `external`, shared by every plugin that runs models on a device. */
import type { JsonObject } from '../../base/json.js';

/** To be part of a plugin's params. */
export interface RunnerParams {
  readonly runner: 'cpu' | 'external';
  /** With `runner: external`. */
  readonly external?: ExternalParams;
}

export interface ExternalParams {
  /** Program and arguments; "./name" stands in the folder of the `runner` input. */
  readonly command: readonly string[];
  /** What is to run the models. */
  readonly device: DeviceKind;
  /** The user's name of the device, for tables; two boards need two labels. */
  readonly label: string;
  readonly cpuFallback: 'refuse' | 'allow';
  /** Least share of a model's nodes on the device. */
  readonly minDeviceShare: number;
  /** path: the runner reads the model's file. bytes: it is sent to it, as to a machine that has other files. */
  readonly models: 'path' | 'bytes';
  /** Given to the runner with every model, as they are. */
  readonly options: JsonObject;
  readonly timeouts: PhaseTimeouts;
}

export type DeviceKind = 'npu' | 'gpu' | 'cpu';

export interface PhaseTimeouts {
  readonly startSeconds: number;
  readonly loadSeconds: number;
  readonly runSeconds: number;
}

const seconds = (preset: number, description: string) => ({
  type: 'number',
  exclusiveMinimum: 0,
  maximum: 86_400,
  default: preset,
  description,
});

/** Properties of the params schema: spread into a plugin's `properties`. */
export const RUNNER_SCHEMA = {
  runner: {
    type: 'string',
    enum: ['cpu', 'external'],
    default: 'cpu',
    description: 'Where the models run. cpu: ONNX Runtime on this machine. external: a program of yours, on your device; see `external`.',
  },
  external: {
    type: 'object',
    additionalProperties: false,
    required: ['command'],
    description: 'The program that runs the models on a device, speaking the protocol of docs/runner-protocol.md.',
    properties: {
      command: {
        type: 'array',
        items: { type: 'string' },
        minItems: 1,
        description:
          'Program and arguments. "./name" is a file of the `runner` input; any other program is looked up on the PATH, and its digest is in the key.',
      },
      device: {
        type: 'string',
        enum: ['npu', 'gpu', 'cpu'],
        default: 'npu',
        description: 'What is to run the models. A runner that runs them on the CPU instead fails the stage.',
      },
      label: {
        type: 'string',
        default: '',
        description: 'Your name of the device, for tables. Two boards behind one command need two labels.',
      },
      cpuFallback: {
        type: 'string',
        enum: ['refuse', 'allow'],
        default: 'refuse',
        description: 'Whether results of a model that ran on the CPU instead of the device are taken (and said to be that).',
      },
      minDeviceShare: {
        type: 'number',
        minimum: 0,
        maximum: 1,
        default: 0.5,
        description:
          "Least share of a model's nodes that ran on the device; below it the model counts as fallen back to the CPU. At least one node always.",
      },
      models: {
        type: 'string',
        enum: ['path', 'bytes'],
        default: 'path',
        description: "path: the runner reads the model's file. bytes: the model is sent, as to a runner on another machine.",
      },
      options: { type: 'object', default: {}, description: 'Given to the runner with every model, as they are.' },
      timeouts: {
        type: 'object',
        additionalProperties: false,
        default: {},
        properties: {
          startSeconds: seconds(60, 'From its start to its identity.'),
          loadSeconds: seconds(1800, 'To load one model; the first time, a device may compile it.'),
          runSeconds: seconds(120, 'For one run of a model.'),
        },
      },
    },
  },
} as const;

export const RUNNER_INPUT = 'runner';

/** For `determinism` of a plugin: nothing that a device says is compared byte for byte. */
export function determinismOf({ runner }: RunnerParams): 'exact' | 'measured' {
  return runner === 'external' ? 'measured' : 'exact';
}

/** For `tools` of a plugin: the program, unless it stands in the `runner` input. */
export function runnerTools({ runner, external }: RunnerParams): readonly string[] {
  const program = runner === 'external' ? external?.command[0] : undefined;
  return program === undefined || program.startsWith('./') ? [] : [program];
}

/** For `device` of a plugin: stages with equal commands, devices and labels measure on the same thing. */
export function runnerDevice({ runner, external }: RunnerParams): JsonObject | undefined {
  if (runner !== 'external' || external === undefined) return undefined;
  return { command: external.command, device: external.device, label: external.label };
}

/** For `checkParams` of a plugin. */
export function checkRunnerParams({ runner, external }: RunnerParams): readonly string[] {
  if (runner === 'external' && external === undefined)
    return ['runner: external needs `external`, with the command that starts the runner'];
  if (runner !== 'external' && external !== undefined) return ['`external` is for runner: external'];
  return external?.command[0] === '' ? ['external.command[0] is the program; it is empty'] : [];
}
