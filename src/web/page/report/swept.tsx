/** Sweeps that were connected to the report: their configurations, as in the view "Runs". */
import { plainText } from '../parts/text.js';
import { SweepRows } from '../runs/sweep-rows.js';
import type { ReportResults } from './report-results.js';
import { ReportSection } from './report-section.js';

export function Swept({ sweeps }: Pick<ReportResults, 'sweeps'>) {
  if (sweeps.length === 0) return null;
  return (
    <ReportSection id="sweeps" title="Sweeps">
      <p class="soft">
        Configurations of the pipeline that were built and compared, the best first. ★ marks the Pareto front: those that no other one beats
        in everything.
      </p>
      {sweeps.map(({ name, value }) => {
        const built = value.configurations.filter(({ status }) => status === 'built' || status === 'gate-missed').length;
        return (
          <div key={name}>
            <h3>{plainText(name)}</h3>
            <p>{`${built} of ${value.configurations.length} configurations were built.`}</p>
            <SweepRows name={plainText(name)} sweep={value} prefix={`${name}.`} level={4} />
          </div>
        );
      })}
    </ReportSection>
  );
}
