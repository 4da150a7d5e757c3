/** Edits that the page can request: one schema for the page, the server and the planner. */

import type { Json } from '../../base/json.js';
import { ANYTHING, anyOf, anyText, constant, flag, number, object, openObject, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';

/** Settings of a tensor that the page changes: docs/stages/quantize.md. The plan checks their values. */
const SETTINGS = {
  ...object({}, { dtype: ANYTHING, range: ANYTHING, symmetric: ANYTHING, scale: ANYTHING, zeroPoint: ANYTHING }),
  minProperties: 1,
} as const;

const STAGE = text('Id of a stage that uses `quantize`.');
const COMPILE = text('Id of a stage that uses `compile`; the rule goes to the stage that rewrites its model.');
const VALUE = text('Name of a tensor of the float model.');

/** A request also has the digest of the file that was shown. */
export const EDIT_SCHEMA = anyOf([
  openObject({ kind: constant('exclude'), stage: STAGE, value: VALUE }),
  openObject({ kind: constant('override'), stage: STAGE, value: VALUE, set: SETTINGS }),
  openObject(
    { kind: constant('rule'), stage: COMPILE, model: text('Name of the model in the report of `compile`.'), rule: text() },
    { form: text() },
  ),
  openObject({ kind: constant('param'), name: text(), to: anyOf([anyText(), number(), flag()]) }),
]);

export type Edit = FromSchema<typeof EDIT_SCHEMA>;

/** The stage that is edited, and which of its instances. */
export interface EditedStage {
  /** Its name in the file. */
  readonly group: string;
  /** The text after the "@"; undefined for the only instance of a stage. */
  readonly item: string | undefined;
  /** Set where a stage is added before it. */
  readonly added?: NewStage;
  /** Of a parameter: the value that the plan has, whatever sets it. */
  readonly effective?: Json;
}

/** A stage that is added between a model and the stage that compiles it. */
export interface NewStage {
  /** Of the stage that compiles. */
  readonly group: string;
  /** Where that stage names the model: ["model"], or ["models", NAME]. */
  readonly input: readonly string[];
  /** The model's name in the report. */
  readonly model: string;
}
