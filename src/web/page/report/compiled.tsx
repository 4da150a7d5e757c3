/** What `compile` made of the models: where they run, placement, and estimated times. */

import type { CompileReport } from '../compile/compile-report.js';
import { MemoryTable } from '../compile/memory-table.js';
import { ModelsTable } from '../compile/models-table.js';
import { Placement } from '../compile/placement.js';
import { Link } from '../parts/link.js';
import { Badge } from '../parts/notice.js';
import { plainText } from '../parts/text.js';
import type { Named, ReportResults } from './report-results.js';
import { ReportSection } from './report-section.js';

export function Compiled({ compile }: Pick<ReportResults, 'compile'>) {
  if (compile.length === 0) return null;
  return (
    <ReportSection id="partition" title="Partition and estimates" view={['compile', 'Compile']}>
      <p class="soft">
        Every unit (an operator with the Q and DQ around it) on the NPU or the CPU, from the documented limits of the target, and the time
        of an image by its latency model. Nothing here is measured: no device took part.
      </p>
      {compile.map(one => (
        <OneTarget key={one.name} {...one} />
      ))}
    </ReportSection>
  );
}

function OneTarget({ name, stage, value }: Named<CompileReport>) {
  const { target, models } = value;
  return (
    <>
      <h3>
        {plainText(name)} <Badge look="warn">estimate</Badge>
      </h3>
      <p class="soft">
        {plainText(`${target.title}, ${target.device}, ${target.dtype}${target.version === '' ? '' : `, software ${target.version}`}`)}
      </p>
      <ModelsTable report={value} name={({ name: model }) => <ModelName stage={stage} model={model} />} />
      {models.map(({ name: model, units, findings }) => {
        const refused = units.filter(unit => unit.device === 'cpu').length;
        return refused + findings.length === 0 ? null : (
          <p key={model}>
            <ModelName stage={stage} model={model} />: {refused} of {units.length} units are not on the NPU{reasonsOf(units, findings)}.
          </p>
        );
      })}
      <MemoryTable report={value} level={4} />
      <Placement report={value} level={4} />
      {[...new Set(models.map(({ estimate }) => estimate.basis.formula))].map(formula => (
        <p key={formula} class="soft">
          Basis of the estimates: {plainText(formula)}
        </p>
      ))}
    </>
  );
}

/** Leads to the view, which shows artifacts of stages only. */
function ModelName({ stage, model }: { readonly stage: string | undefined; readonly model: string }) {
  if (stage === undefined) return <>{plainText(model)}</>;
  return (
    <Link view="compile" query={{ stage, model }}>
      {plainText(model)}
    </Link>
  );
}

/** The first reasons; the view has all, with their sources. */
function reasonsOf(units: CompileReport['models'][number]['units'], findings: CompileReport['models'][number]['findings']): string {
  const reasons = new Set([
    ...findings.map(({ message }) => message),
    ...units.filter(({ device }) => device === 'cpu').flatMap(({ demoted, findings: own }) => demoted ?? own.map(({ message }) => message)),
  ]);
  return reasons.size === 0 ? '' : `: ${plainText([...reasons].slice(0, 3).join('; '))}${reasons.size > 3 ? '; …' : ''}`;
}
