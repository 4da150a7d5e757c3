/** The package's entry point "tanren/stage", for third-party plugins. */
export type { Json, JsonObject } from '../base/json.js';
export type { FromSchema } from '../base/schema/from-schema.js';
export type {
  BuildSummary,
  SummarizedGate,
  SummarizedInput,
  SummarizedMissing,
  SummarizedOutput,
  SummarizedStage,
} from './build-summary.js';
export {
  type Context,
  definePart,
  type Part,
  type PartJob,
  type PartRequest,
  type PartResult,
  type RunningProgram,
  type SpawnOptions,
  type SpawnResult,
} from './context.js';
export { defineStage, type InputPaths, type ParamsSchema, type StageDeclaration, type StageJob, type StagePlugin } from './define-stage.js';
export type { Headline } from './headline.js';
export { type InOrder, takeInOrder } from './in-order.js';
export { readJsonFile, writeJsonFile, writeMetricsFile } from './json-file.js';
export { getInputPath, getInputRecord, getOutputPath } from './paths.js';
export { type KindName, type Port, type Ports, port, recordPort } from './ports.js';
export { StageError } from './stage-error.js';
