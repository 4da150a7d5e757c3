/** The models of a report of `compile`: nodes by device, work, and the estimate of an image. */
import { formatCount, formatMs, formatShare } from '../../../report/numbers.js';
import { numberColumn, textColumn } from '../parts/columns.js';
import { type ColumnSpec, DataTable } from '../parts/data-table.js';
import { plainText } from '../parts/text.js';
import type { CompiledModel, CompileReport } from './compile-report.js';

interface TableProps {
  readonly report: CompileReport;
  /** The first cell of a row. */
  readonly name: (model: CompiledModel) => preact.ComponentChildren;
  readonly picked?: string | undefined;
  readonly pick?: (model: CompiledModel) => void;
}

/** A table has either estimated times or measured ones: these are estimates. */
export function ModelsTable({ report: { models }, name, picked, pick }: TableProps) {
  return (
    <DataTable
      label="Models, with estimated times"
      rows={models}
      columns={[textColumn('Model', model => model.name, name), ...COLUMNS]}
      keyOf={model => model.name}
      picked={picked}
      {...(pick === undefined ? {} : { pick })}
    />
  );
}

const perImage = ({ estimate }: CompiledModel) => estimate.image?.perImage;

const COLUMNS: readonly ColumnSpec<CompiledModel>[] = [
  numberColumn('Nodes', ({ counts }) => counts.nodes, formatCount, {
    hint: 'After folding of constants; a DequantizeLinear counts once for each node that reads it, as in ONNX Runtime',
  }),
  numberColumn('NPU', ({ counts }) => counts.npuNodes, formatCount, { hint: 'Nodes that run on the NPU' }),
  numberColumn('CPU', ({ counts }) => counts.cpuNodes, formatCount, { hint: 'Nodes that fall back to the CPU' }),
  numberColumn('Edge', ({ counts }) => counts.edgeNodes, formatCount, { hint: 'Q and DQ at the ends of parts, which run on the host' }),
  numberColumn(
    'Parts',
    ({ counts }) => counts.parts,
    (parts, { counts }) => `${formatCount(parts)} (${formatCount(counts.npuParts)} NPU)`,
    { hint: 'Stretches of the model that run on one device without a break' },
  ),
  numberColumn('MACs', ({ counts }) => counts.macs, formatCount),
  numberColumn('MACs on the NPU', ({ counts }) => counts.npuMacShare, formatShare),
  numberColumn(
    'Calls',
    ({ estimate }) => estimate.image?.calls,
    (calls, { estimate }) => `${formatCalls(calls)}${estimate.image?.tiles === undefined ? '' : ` of ${estimate.image.tiles} tiles`}`,
    { hint: 'Of the model, for one image' },
  ),
  numberColumn('Estimate (ms)', model => perImage(model)?.ms, formatMs, {
    hint: 'Per image, by the latency model of the target; not measured',
  }),
  numberColumn('Lower bound', model => perImage(model)?.lowMs, formatMs),
  numberColumn('Upper bound', model => perImage(model)?.highMs, formatMs),
  textColumn('Legal', ({ legal, units }) => (legal ? 'all units' : describeLegality(units)), undefined, {
    hint: 'Whether a unit is refused, or undocumented',
  }),
  textColumn('On tiles', ({ replacedBy = [] }) => plainText(replacedBy.join(', ')), undefined, {
    hint: 'The model on tiles that runs in its place: one call takes many RoIs',
  }),
];

/** Of a model that is not legal as a whole. */
export function describeLegality(units: CompiledModel['units']): string {
  const illegal = units.filter(({ findings }) => findings.some(({ severity }) => severity !== 'warning')).length;
  return illegal === 0 ? 'not as a whole' : `${formatCount(illegal)} of ${formatCount(units.length)} units are not`;
}

function formatCalls(calls: number): string {
  return Number.isInteger(calls) ? formatCount(calls) : calls.toFixed(1);
}
