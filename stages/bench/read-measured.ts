/** Reads figures that `runner.py check --json` of a bundle measured on a board. */

import { isJsonObject, type Json, type JsonObject } from '../../src/base/json.js';
import { formatJsonProblems, readJsonShape } from '../../src/base/json-shape.js';
import { anyList, constant, integer, mapOf, number, oneOf, openObject, text } from '../../src/base/schema/build-schema.js';
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { readerOf } from '../../src/base/schema/schema-reader.js';
import { BENCH_FORMAT } from '../../src/runtime/measure/bench-format.js';
import type { InputPaths } from '../../src/stage/define-stage.js';
import { readJsonFile } from '../../src/stage/json-file.js';
import { readInput } from '../../src/stage/paths.js';
import { StageError } from '../../src/stage/stage-error.js';

export interface Measured {
  /** The document as it was read. */
  readonly report: JsonObject;
  readonly metrics: JsonObject;
}

const MS = number({ minimum: 0 });

const LATENCY_SCHEMA = openObject({ repeats: integer(1), minMs: MS, meanMs: MS, stdMs: MS, p50Ms: MS, p90Ms: MS, p99Ms: MS });

const ROW_SCHEMA = openObject({ counts: anyList(openObject({ here: LATENCY_SCHEMA })), perImageMs: MS });

const FORM_SCHEMA = openObject({ form: oneOf(['float', 'int8']), rows: anyList(ROW_SCHEMA) });

const MEASURED_SCHEMA = openObject(
  {
    format: constant(BENCH_FORMAT),
    parts: anyList(openObject({ part: text(), forms: anyList(FORM_SCHEMA) })),
  },
  { detector: openObject({ images: integer(1), steps: mapOf(LATENCY_SCHEMA) }) },
);

const reader = readerOf(MEASURED_SCHEMA);

/** @throws StageError `measured-input` where the file is no such measurement, or models are connected too. */
export async function readMeasured(inputs: InputPaths): Promise<Measured> {
  if (inputs.float !== undefined || inputs.int8 !== undefined || inputs.captured !== undefined)
    throw new StageError('measured-input', '`measured` is connected together with models or captured tensors', {
      help: 'use one stage for the figures of the board, and another one to measure here',
    });
  return parseMeasured(await readInput(inputs, 'measured', readJsonFile));
}

function parseMeasured(value: Json): Measured {
  const read = readJsonShape(reader, value);
  if (read.kind === 'problems' || !isJsonObject(value)) {
    const lines = read.kind === 'problems' ? formatJsonProblems(read.problems) : ['should be an object'];
    throw new StageError('measured-input', `\`measured\` is not a measurement of a board: ${lines.slice(0, 8).join('; ')}`, {
      details: lines,
      help: 'write the file with `python runner.py check --json FILE` in the bundle',
    });
  }
  const { parts, detector } = read.value;
  const figures = parts.map(({ part, forms }) => [part, forms[0] === undefined ? {} : figuresOf(forms[0])] as const);
  return {
    report: value,
    metrics: {
      ...Object.fromEntries(figures),
      ...(detector === undefined
        ? {}
        : { perImage: Object.fromEntries(Object.entries(detector.steps).map(([step, { p50Ms }]) => [step, p50Ms])) }),
    },
  };
}

/** The form of the model that the board ran. */
function figuresOf({ form, rows }: FromSchema<typeof FORM_SCHEMA>): JsonObject {
  const [row] = rows;
  const [count] = row?.counts ?? [];
  if (row === undefined || count === undefined) return {};
  const { repeats: _repeats, ...figures } = count.here;
  return { [`${form}Ms`]: count.here.p50Ms, [`${form}BestMs`]: row.perImageMs, [form]: figures };
}
