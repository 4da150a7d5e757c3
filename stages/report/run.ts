/** Runs `report`: reads and checks the connected inputs, and writes the page with its views and their data. */
import { writeFile } from 'node:fs/promises';
import { getDefined } from '../../src/base/invariant.js';
import { isJsonObject } from '../../src/base/json.js';
import { drawDocument } from '../../src/report/document.js';
import { renderReport } from '../../src/report/saved/report-bundle.js';
import type { SavedAnswer } from '../../src/report/saved/saved-answers.js';
import { encodeAnswers } from '../../src/report/saved/saved-answers.js';
import { type LoadedEntry, REPORT_PORTS, type ReportView } from '../../src/report/views/report-data.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { getOutputPath } from '../../src/stage/paths.js';
import { findRead, listEntries } from './connected.js';
import { checkEntries } from './entries.js';
import type { ReportParams } from './params.js';
import { CHECKS } from './readers/checks.js';
import { startSides } from './start-sides.js';
import { saveModels } from './views/save-models.js';
import { saveViews } from './views/saved-views.js';

/** The stage of a saved page that has sources as inputs: the page itself. */
const OWN = 'report';

/** @throws StageError `report-input`, `report-overlays`, `thread-ended`; errors of sketches, data sets, detections, images and models. */
export async function runReport({ params, inputs, outputs, context }: StageJob<ReportParams>): Promise<void> {
  const build = getDefined(context.build, 'summary of the build');
  const read = findRead(build.reads);
  const loaded: LoadedEntry[] = [];
  const load = async (port: (typeof REPORT_PORTS)[number]): Promise<void> => {
    for (const { name, value } of await checkEntries(inputs, port, params.order, CHECKS[port])) {
      const [from] = read(port, name);
      loaded.push({ entry: { port, name, ...from }, value });
    }
  };
  const [first, ...others] = REPORT_PORTS;
  await load(first);
  const sides = startSides({ inputs, params, reads: build.reads, evaluated: countImages(loaded) });
  // What is thrown here comes first.
  sides.catch(() => undefined);
  for (const port of others) await load(port);
  const models: Record<string, SavedAnswer> = {};
  await saveModels(listEntries(inputs, 'models'), read, models);
  const report: ReportView = { stage: OWN, title: params.title, entries: loaded.map(({ entry }) => entry) };
  const { pipeline, answers } = await saveViews({
    build,
    inputs,
    report,
    entries: loaded,
    histograms: params.tensors,
    others: { ...models, ...(await sides) },
  });
  const page = drawDocument({ title: params.title, body: renderReport(pipeline, loaded), views: encodeAnswers(answers) });
  await writeFile(getOutputPath(outputs, 'page'), page);
}

/** The number of images that `evaluate` took, by the name of a side. */
function countImages(loaded: readonly LoadedEntry[]): ReadonlyMap<string, number> {
  return new Map(
    loaded.flatMap(({ entry: { port, name }, value }) =>
      port === 'metrics' && isJsonObject(value) && typeof value.images === 'number' ? [[name, value.images] as const] : [],
    ),
  );
}
