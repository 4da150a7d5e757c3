/** Reads reports of `compile`. */
import type { FromSchema } from '../../../src/base/schema/from-schema.js';
import { COMPILE_REPORT_OF_ANY_VERSION } from '../../../src/target/report/compile-report.js';
import { parserOf } from '../entries.js';

export type CompileView = FromSchema<typeof COMPILE_REPORT_OF_ANY_VERSION>;
export type CompiledModel = CompileView['models'][number];
export type UnitView = CompiledModel['units'][number];
export type FindingView = UnitView['findings'][number];
export type ImageView = NonNullable<CompiledModel['estimate']['image']>;

/** @throws StageError `report-input`. */
export const parseCompile = parserOf(COMPILE_REPORT_OF_ANY_VERSION, 'compile');
