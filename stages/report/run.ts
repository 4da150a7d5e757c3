/** Runs `report`: reads and checks the connected inputs, draws the sections, and writes the page. */
import { writeFile } from 'node:fs/promises';
import { getDefined } from '../../src/base/invariant.js';
import { isJsonObject, type Json } from '../../src/base/json.js';
import { parseModelSketches } from '../../src/quant/calibration/model-sketches.js';
import { parseSensitivityReport } from '../../src/quant/sensitivity/report-schema.js';
import { drawBadge, drawPage } from '../../src/report/document.js';
import { cleanText, type HtmlValue, html } from '../../src/report/html.js';
import { encodeAnswers } from '../../src/report/saved/saved-answers.js';
import type { BuildSummary } from '../../src/stage/build-summary.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { getOutputPath } from '../../src/stage/paths.js';
import { StageError } from '../../src/stage/stage-error.js';
import { readEntries } from './entries.js';
import type { ReportParams } from './params.js';
import { parseBench } from './readers/read-bench.js';
import { parseCompile } from './readers/read-compile.js';
import { parseQuantization } from './readers/read-quantization.js';
import { parseRecovery } from './readers/read-recovery.js';
import { parseSweep } from './readers/read-sweep.js';
import { parseVerify } from './readers/read-verify.js';
import { drawAccuracy, type Metrics } from './sections/accuracy-section.js';
import { drawComparisons } from './sections/comparison-section.js';
import { drawErrors, joinErrors } from './sections/error-section.js';
import { drawLatency } from './sections/latency-section.js';
import { drawLayers } from './sections/layers-section.js';
import { drawMemory } from './sections/memory-section.js';
import { drawPartition } from './sections/partition-section.js';
import { drawPipeline } from './sections/pipeline-section.js';
import { drawPlacement } from './sections/placement-section.js';
import { drawRanges } from './sections/range-section.js';
import { drawRecovery } from './sections/recovery-section.js';
import { drawSensitivity } from './sections/sensitivity-section.js';
import { drawSweeps } from './sections/sweep-section.js';
import { startSides } from './start-sides.js';
import { drawSummary } from './summary.js';
import { saveViews } from './views/saved-views.js';

/** @throws StageError `report-input`, `report-overlays`, `thread-ended`; errors of sketches, data sets, detections, images and models. */
export async function runReport({ params, inputs, outputs, context }: StageJob<ReportParams>): Promise<void> {
  const read = <T>(port: string, parse: (value: Json) => T) => readEntries(inputs, port, params.order, parse);
  const build = getDefined(context.build, 'summary of the build');
  const metrics = await read('metrics', parseMetrics);
  const sides = startSides({ inputs, params, reads: build.reads, evaluated: countImages(metrics) });
  const [verify, quantization] = [await read('verify', parseVerify), await read('quantization', parseQuantization)];
  const [sketches, compile, bench] = [
    await read('sketches', parseModelSketches),
    await read('compile', parseCompile),
    await read('bench', parseBench),
  ];
  const errors = joinErrors(quantization, verify);
  const first = [await drawPipeline(build), await drawAccuracy(metrics)];
  const last = [
    drawComparisons(verify),
    drawRecovery(await read('recovery', parseRecovery)),
    await drawErrors(errors),
    await drawSensitivity(await read('sensitivity', parseSensitivityReport)),
    await drawRanges({ quantization, sketches, errors, most: params.tensors }),
    await drawPartition(compile),
    await drawMemory(compile),
    drawPlacement(compile),
    drawLatency(bench, compile),
    await drawLayers(compile),
    await drawSweeps(await read('sweeps', parseSweep)),
  ];
  const { sections: ofSides, answers: others } = await sides;
  const views = await saveViews({ build, inputs, params, metrics, others });
  const sections = [...first, ...ofSides, ...last].filter(section => section !== undefined);
  const page = drawPage({
    title: params.title,
    lead: describeBuild(build.stages.length, sections.length),
    summary: html`${drawMissing(build)}${drawSummary({ build, metrics, quantization, compile, bench })}`,
    sections,
    views: encodeAnswers(views),
    footer: html`<p>Written by Tanren’s <code>report</code> stage. Outcomes are those of the build that wrote the page; times are those of the runs that made the results. The page loads no other files.</p>`,
  });
  await writeFile(getOutputPath(outputs, 'page'), page);
}

/** A notice on a page that lacks results. */
function drawMissing({ missing = [] }: BuildSummary): HtmlValue {
  if (missing.length === 0) return undefined;
  return html`<section id="partial"><p>${drawBadge('bad', 'partial')} This page lacks the results of ${missing.length === 1 ? 'a stage' : `${missing.length} stages`}.
It is not stored as a result, and the next complete build replaces it.</p>
<ul>${missing.map(({ stage, outcome, reason }) => html`<li><b>${stage}</b> ${outcome}: ${cleanText(reason)}</li>`)}</ul></section>
`;
}

function describeBuild(stages: number, sections: number): string {
  if (sections === 0) return 'No input is connected: connect metrics, reports, sketches or detections.';
  return stages === 0 ? '' : `What a build of ${stages} stages made, measured and decided.`;
}

/** @throws StageError `report-input`. */
function parseMetrics(value: Json) {
  if (isJsonObject(value)) return value;
  throw new StageError('report-input', 'metrics are an object of numbers', { help: 'connect an output of kind metrics' });
}

/** The number of images that `evaluate` took, by the name of a side. */
function countImages(metrics: readonly Metrics[]): ReadonlyMap<string, number> {
  return new Map(metrics.flatMap(({ name, value: { images } }) => (typeof images === 'number' ? [[name, images] as const] : [])));
}
