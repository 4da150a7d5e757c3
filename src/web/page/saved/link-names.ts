/** Links from the names in a saved report to the views that show them: stages, quantized values, compiled units and images. */
import type { Json } from '../../../base/json.js';
import { parseQuantizationReport } from '../../../quant/report/report-entries.js';
import type { PipelineView, StageRow } from '../../../report/views/pipeline-data.js';
import { address, getJson } from '../api/client.js';
import { hrefOf } from '../api/router.js';
import { parseCompileReport } from '../compile/compile-report.js';
import { kindOfName } from './kind-of-name.js';

/** The address of the view of each name; undefined where several things have the name. */
type Targets = Map<string, string | undefined>;

/** @throws ApiError where the file lacks its data. */
export async function linkNames(): Promise<void> {
  const { stages } = await getJson<PipelineView>('pipeline');
  const stageLinks = new Map(stages.map(({ id }) => [id, hrefOf('pipeline', { stage: id })]));
  const targets: Targets = new Map();
  for (const stage of stages) await addValues(targets, stage);
  for (const stage of stages) await addUnits(targets, stage);
  for (const table of document.querySelectorAll<HTMLTableElement>('main:not(#main) table')) {
    const heads = [...(table.tHead?.rows[0]?.cells ?? [])].map(({ textContent }) => textContent?.trim());
    for (const cell of table.querySelectorAll<HTMLTableCellElement>('tbody :is(th, td)')) {
      const name = cell.textContent?.trim() ?? '';
      const kind = kindOfName(heads[cell.cellIndex], cell.querySelector('code')?.textContent?.trim() === name);
      const href =
        kind === 'image' ? hrefOf('results', { image: name }) : kind === 'stage' ? stageLinks.get(name) : kind && targets.get(name);
      if (href !== undefined && name !== '' && cell.querySelector('a, svg') === null) wrap(cell, href);
    }
  }
}

async function addValues(targets: Targets, { id, plugin, outputs }: StageRow): Promise<void> {
  if (plugin !== 'quantize' || !holdsReport(outputs)) return;
  const { activations } = parseQuantizationReport(await getJson<Json>(address('artifact', { stage: id, port: 'report' })), () => undefined);
  addAll(
    targets,
    activations.map(({ name }) => [name, hrefOf('quantization', { stage: id, value: name })]),
  );
}

async function addUnits(targets: Targets, { id, plugin, outputs }: StageRow): Promise<void> {
  if (plugin !== 'compile' || !holdsReport(outputs)) return;
  const { models } = parseCompileReport(await getJson<Json>(address('artifact', { stage: id, port: 'report' })));
  const known = new Set(targets.keys());
  const links = models.flatMap(({ name: model, units }) =>
    units.map(unit => [unit.name, hrefOf('compile', { stage: id, model, unit: String(unit.id) })] as const),
  );
  // A value that has the name of its node is shown as a value.
  addAll(
    targets,
    links.filter(([name]) => !known.has(name)),
  );
}

function addAll(targets: Targets, links: readonly (readonly [name: string, href: string])[]): void {
  for (const [name, href] of links) targets.set(name, targets.has(name) ? undefined : href);
}

function holdsReport(outputs: StageRow['outputs']): boolean {
  return outputs.some(({ port, absent }) => port === 'report' && absent !== true);
}

function wrap(cell: HTMLElement, href: string): void {
  const link = document.createElement('a');
  link.href = href;
  link.append(...cell.childNodes);
  cell.append(link);
}
