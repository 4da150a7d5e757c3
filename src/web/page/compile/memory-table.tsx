/** The memory plans of all parts of a report: arena, bound and what does not fit into on-chip memory. */
import { formatBytes } from '../../../base/text/format.js';
import type { MemoryReport } from '../../../target/report/memory-report.js';
import { numberColumn, textColumn } from '../parts/columns.js';
import { type ColumnSpec, DataTable } from '../parts/data-table.js';
import { Heading, type HeadingLevel } from '../parts/heading.js';
import { plainText } from '../parts/text.js';
import type { CompiledModel, CompileReport } from './compile-report.js';

interface PlannedPart {
  readonly title: string;
  readonly memory: MemoryReport;
  readonly model: CompiledModel;
}

/** Nothing where no part has a plan. */
export function MemoryTable({ report, level }: { readonly report: CompileReport; readonly level: HeadingLevel }) {
  const parts = report.models.flatMap(listParts);
  if (parts.length === 0) return null;
  return (
    <section>
      <Heading level={level}>Memory of activations</Heading>
      <DataTable label="Memory plans of all parts" rows={parts} columns={COLUMNS} keyOf={({ title }) => title} visibleRows={12} />
    </section>
  );
}

function listParts(model: CompiledModel): readonly PlannedPart[] {
  const planned = model.parts.flatMap(({ name, memory }) => (memory === undefined ? [] : [{ name, memory }]));
  return planned.map(({ name, memory }) => ({ title: planned.length > 1 ? `${model.name} ${name}` : model.name, memory, model }));
}

const COLUMNS: readonly ColumnSpec<PlannedPart>[] = [
  textColumn('Part', ({ title }) => plainText(title)),
  numberColumn('Arena', ({ memory }) => memory.peakBytes, formatBytes, {
    hint: 'Memory that holds all activations of the part at their offsets',
  }),
  numberColumn('Bound', ({ memory }) => memory.boundBytes, formatBytes, {
    hint: 'Memory that is live at the worst moment: no plan needs less',
  }),
  numberColumn('Gap', ({ memory }) => memory.gapBytes, formatBytes, { hint: 'How far the plan is above the bound' }),
  numberColumn('Sum', ({ memory }) => memory.sumBytes, formatBytes, { hint: 'Without reuse of memory' }),
  textColumn('Most is live at', nameOfPeak, part => <code>{plainText(nameOfPeak(part))}</code>),
  textColumn('Beyond on-chip memory', ({ memory }) => describeOnChip(memory)),
];

function nameOfPeak({ model, memory: { peakUnit } }: PlannedPart): string {
  return model.units[peakUnit]?.name ?? String(peakUnit);
}

function describeOnChip({ onChip }: MemoryReport): string {
  if (onChip === undefined) return 'size not known';
  const beyond = onChip.units.filter(({ fit }) => fit !== 'fits').length;
  return beyond === 0 ? 'none' : `${beyond} of ${onChip.units.length} units (${formatBytes(onChip.bytes)})`;
}
