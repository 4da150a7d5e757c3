/** Reads figures that `runner.py check --json` of a bundle measured on a board. */

import { formatJsonProblems, readJsonShape } from '../../src/base/json/json-shape.js';
import { isJsonObject, type Json, type JsonObject } from '../../src/base/json.js';
import { type FormReport, readBenchReport } from '../../src/runtime/measure/bench-report.js';
import type { LatencySummary } from '../../src/runtime/measure/latency.js';
import type { InputPaths } from '../../src/stage/define-stage.js';
import { readJsonFile } from '../../src/stage/json-file.js';
import { readInput } from '../../src/stage/paths.js';
import { StageError } from '../../src/stage/stage-error.js';

export interface Measured {
  /** The document as it was read. */
  readonly report: JsonObject;
  readonly metrics: JsonObject;
}

/** @throws StageError `measured-input` where the file is no such measurement, or models are connected too. */
export async function readMeasured(inputs: InputPaths): Promise<Measured> {
  if (inputs.float !== undefined || inputs.int8 !== undefined || inputs.captured !== undefined)
    throw new StageError('measured-input', '`measured` is connected together with models or captured tensors', {
      help: 'use one stage for the figures of the board, and another one to measure here',
    });
  return parseMeasured(await readInput(inputs, 'measured', readJsonFile));
}

function parseMeasured(value: Json): Measured {
  const read = readJsonShape(readBenchReport, value);
  if (read.kind === 'problems' || !isJsonObject(value)) {
    const lines = read.kind === 'problems' ? formatJsonProblems(read.problems) : ['should be an object'];
    throw new StageError('measured-input', `\`measured\` is not a measurement of a board: ${lines.slice(0, 8).join('; ')}`, {
      details: lines,
      help: 'write the file with `python runner.py check --json FILE` in the bundle',
    });
  }
  const { parts, detector } = read.value;
  const figures = parts.map(
    ({ part, forms }) => [part, forms[0] === undefined ? {} : figuresOf(forms[0], detector?.models?.[part])] as const,
  );
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

/** The form of the model that the board ran. `inDetector`: its times per image, if the detector runs it. */
function figuresOf({ form, rows }: FormReport, inDetector: LatencySummary | undefined): JsonObject {
  const [row] = rows;
  const [count] = row?.counts ?? [];
  if (row === undefined || count === undefined) return {};
  const { repeats: _repeats, ...figures } = count.here;
  const perImage = inDetector === undefined ? {} : { [`${form}BestMs`]: inDetector.p50Ms };
  return { [`${form}Ms`]: count.here.p50Ms, ...perImage, [form]: figures };
}
