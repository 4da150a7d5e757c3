/** The content of the view "Report": the main figures and gates, then a section per kind of result. Also what a saved page shows before its script runs. */

import type { StageRow } from '../../../report/views/pipeline-data.js';
import { isStatic } from '../api/saved.js';
import { Link } from '../parts/link.js';
import { Badge, Empty } from '../parts/notice.js';
import { isOutdated } from '../parts/states.js';
import { plainText } from '../parts/text.js';
import { Accuracy } from './accuracy.js';
import { Compiled } from './compiled.js';
import { Gates, listGates } from './gates.js';
import { Latency } from './latency.js';
import { listEntries, rowOfEntry } from './list-entries.js';
import { Quantized } from './quantized.js';
import { Recovery } from './recovery.js';
import type { ReportResults } from './report-results.js';
import { showSection } from './report-section.js';
import { Sensitivity } from './sensitivity.js';
import { StageName } from './stage-name.js';
import { Stages } from './stages.js';
import { Swept } from './swept.js';
import { Tiles } from './tiles.js';
import { Verification } from './verification.js';

export function ReportBody({ results }: { readonly results: ReportResults }) {
  const { pipeline, metrics, verify, sensitivity, recovery, compile, bench, sweeps, quantization, unread } = results;
  const sections = [
    { id: 'accuracy', title: 'Accuracy', has: metrics },
    { id: 'verification', title: 'Verification', has: verify },
    { id: 'quantization', title: 'Quantization', has: quantization },
    { id: 'sensitivity', title: 'Cost per layer', has: sensitivity },
    { id: 'recovery', title: 'Recovered accuracy', has: recovery },
    { id: 'partition', title: 'Partition and estimates', has: compile },
    { id: 'latency', title: 'Latency', has: bench },
    { id: 'sweeps', title: 'Sweeps', has: sweeps },
    { id: 'pipeline', title: 'Pipeline', has: pipeline.stages },
  ].filter(({ has }) => has.length > 0);
  return (
    <div class="report">
      <Missing pipeline={pipeline} />
      <Outdated pipeline={pipeline} />
      <Tiles results={results} />
      <Gates gates={listGates(pipeline.stages)} />
      {unread.map(({ entry: { port, name }, reason }) => (
        <p key={`${port} ${name}`} class="warn">
          {plainText(`${port}.${name} cannot be shown: ${reason}`)}
        </p>
      ))}
      {sections.length > 1 && (
        <nav aria-label="Sections" class="contents">
          {sections.map(({ id, title }) =>
            isStatic ? (
              <a key={id} href={`#${id}`}>
                {title}
              </a>
            ) : (
              <Link key={id} view="report" query={{ at: id }} then={() => showSection(id)}>
                {title}
              </Link>
            ),
          )}
        </nav>
      )}
      {sections.length === 0 && <Empty>There are no results yet. Run the pipeline to see its figures.</Empty>}
      <Accuracy metrics={metrics} />
      <Verification results={results} />
      <Quantized results={results} />
      <Sensitivity sensitivity={sensitivity} />
      <Recovery recovery={recovery} />
      <Compiled compile={compile} />
      <Latency bench={bench} />
      <Swept sweeps={sweeps} />
      <Stages stages={pipeline.stages} />
      {pipeline.project.access === 'saved' && (
        <p class="soft">
          Written by Tanren’s <code>report</code> stage. Outcomes are those of the build that wrote the page; times are those of the runs
          that made the results. The page loads no other files.
        </p>
      )}
    </div>
  );
}

/** In the live page: what the report shows of former inputs, and what it lacks. */
function Outdated({ pipeline }: Pick<ReportResults, 'pipeline'>) {
  const shown = listEntries(pipeline).flatMap(entry => rowOfEntry(entry, pipeline.stages) ?? []);
  const rows = [...new Set([...shown, ...pipeline.stages.filter(({ gates }) => gates.length > 0)])];
  if (pipeline.project.access === 'saved') return null;
  const [stale, unbuilt] = [rows.filter(isOutdated), rows.filter(({ built }) => !built)];
  const named = (what: string, those: readonly StageRow[]) =>
    those.length > 0 && (
      <p key={what}>
        <Badge look={what === 'out of date' ? 'warn' : 'mute'}>{what}</Badge> <StageNames rows={those} />
      </p>
    );
  return (
    <>
      {named('out of date', stale)}
      {named('not built', unbuilt)}
    </>
  );
}

function StageNames({ rows }: { readonly rows: readonly StageRow[] }) {
  return (
    <>
      {rows.map(({ id }, index) => (
        <span key={id}>
          {index > 0 && ', '}
          <StageName name={id} stage={id} />
        </span>
      ))}
    </>
  );
}

/** A notice on a page that lacks results. */
function Missing({ pipeline: { project, stages } }: Pick<ReportResults, 'pipeline'>) {
  const missing = project.access === 'saved' ? stages.filter(({ built }) => !built) : [];
  if (missing.length === 0) return null;
  return (
    <section class="card" aria-label="Missing results">
      <p>
        <Badge look="bad">partial</Badge> This page lacks the results of {missing.length === 1 ? 'a stage' : `${missing.length} stages`}. It
        is not stored as a result, and the next complete build replaces it.
      </p>
      <ul>
        {missing.map(({ id, why }) => (
          <li key={id}>
            <b>{plainText(id)}</b> {plainText(why.join('; '))}
          </li>
        ))}
      </ul>
    </section>
  );
}
