/** What an external runner reports: its identity, and the devices that ran the nodes of a model. */
import { anyText, integer, list, mapOf, object, oneOf, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { RUNNER_SCHEMA } from './runner-params.js';

const DEVICE_KIND = oneOf(RUNNER_SCHEMA.external.properties.device.enum);

export const RUNNER_IDENTITY_SCHEMA = object({
  runner: object({ name: text(), version: text() }),
  provider: text('Execution provider of ONNX Runtime or of its replacement, for example "VitisAIExecutionProvider".'),
  device: object({ kind: DEVICE_KIND, name: text(), driver: anyText() }),
  versions: mapOf(anyText(), { description: 'Versions of libraries and firmware, by name.' }),
});

/** As the runner reported it. Any change makes results stale, so it has no times or loads. */
export type RunnerIdentity = FromSchema<typeof RUNNER_IDENTITY_SCHEMA>;

export const PLACEMENT_SCHEMA = list(object({ device: DEVICE_KIND, provider: text(), nodes: integer(0) }));

/** Number of the model's nodes per device. */
export type Placement = FromSchema<typeof PLACEMENT_SCHEMA>;
