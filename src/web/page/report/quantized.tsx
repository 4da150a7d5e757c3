/** The quantized parts: what was quantized, and the values with the lowest SQNR, with links to the view that shows all of them. */

import type { QuantizationReport } from '../../../quant/report/report-entries.js';
import type { SensitivityReport } from '../../../quant/sensitivity/report-schema.js';
import { formatCount, formatDb, formatShare } from '../../../report/numbers.js';
import { numberColumn, textColumn } from '../parts/columns.js';
import type { ColumnSpec } from '../parts/data-table.js';
import { Link } from '../parts/link.js';
import { plainText } from '../parts/text.js';
import { findCosts, listReaders } from '../quantization/find-part.js';
import { COST_BASIS, joinLayers, type Layer } from '../quantization/layers.js';
import { findErrors } from './part-errors.js';
import type { Named, ReportResults } from './report-results.js';
import { CaptionedTable, ReportSection } from './report-section.js';
import { describeScheme } from './tiles.js';

interface Part {
  readonly name: string;
  readonly stage: string | undefined;
  readonly report: QuantizationReport;
  readonly own: Layer | undefined;
  readonly propagated: Layer | undefined;
  readonly cost: Layer | undefined;
}

export function Quantized({ results }: { readonly results: ReportResults }) {
  const { quantization } = results;
  if (quantization.length === 0) return null;
  const parts = listParts(results);
  return (
    <ReportSection id="quantization" title="Quantization" view={['quantization', 'Quantization']}>
      <p class="soft">
        Own: the error from quantizing this value alone, computed from the calibration sketches. Propagated: the error against the float
        model, including all errors before it. In decibels of SQNR; 6 dB less is twice the error.
      </p>
      <CaptionedTable
        caption="The quantized models, and the value with the lowest SQNR of each."
        rows={parts}
        columns={parts.some(({ cost }) => cost !== undefined) ? [...COLUMNS, ...COST] : COLUMNS}
        keyOf={({ name }) => name}
      />
    </ReportSection>
  );
}

function listParts(results: ReportResults): readonly Part[] {
  return results.quantization.map(({ name, stage, value }): Part => {
    const layers = joinLayers(value, findErrors({ name, stage, value }, results), findSensitivity({ name, stage, value }, results));
    const least = (of: (layer: Layer) => number | null | undefined): Layer | undefined =>
      layers.reduce<Layer | undefined>((found, layer) => ((of(layer) ?? 1e9) < ((found && of(found)) ?? 1e9) ? layer : found), undefined);
    return {
      name,
      stage,
      report: value,
      own: least(({ own }) => own),
      propagated: least(({ propagated }) => propagated),
      cost: findDearest(layers),
    };
  });
}

/** Measured costs are known of some layers only, and compare with no cost to first order. */
function findDearest(layers: readonly Layer[]): Layer | undefined {
  const known = layers.filter(({ cost }) => cost !== undefined);
  const measured = known.filter(({ cost }) => cost?.basis === 'measured');
  const shareOf = ({ cost }: Layer): number => cost?.share ?? Number.NEGATIVE_INFINITY;
  return (measured.length > 0 ? measured : known).reduce<Layer | undefined>(
    (found, layer) => (found === undefined || shareOf(layer) > shareOf(found) ? layer : found),
    undefined,
  );
}

type Quantization = Named<QuantizationReport>;

function findSensitivity({ name, stage, value }: Quantization, { pipeline, sensitivity }: ReportResults): SensitivityReport | undefined {
  const readers = stage === undefined ? [] : listReaders(pipeline.stages, stage, 'sensitivity');
  const own = sensitivity.find(one => readers.some(({ id }) => id === one.stage));
  return (own ?? findCosts(value, sensitivity, name))?.value;
}

/** A value leads to its histogram. */
function ValueLink({ part: { stage }, layer }: { readonly part: Part; readonly layer: Layer | undefined }) {
  if (layer === undefined) return <>–</>;
  if (stage === undefined) return <code>{plainText(layer.name)}</code>;
  return (
    <Link view="quantization" query={{ stage, value: layer.name }}>
      <code>{plainText(layer.name)}</code>
    </Link>
  );
}

const COLUMNS: readonly ColumnSpec<Part>[] = [
  textColumn(
    'Part',
    ({ name }) => name,
    ({ name, stage }) =>
      stage === undefined ? (
        plainText(name)
      ) : (
        <Link view="quantization" query={{ stage }}>
          {plainText(name)}
        </Link>
      ),
  ),
  textColumn('Types', ({ report }) => plainText(describeScheme(report)), undefined, { hint: 'Data types of activations / weights' }),
  numberColumn('Activations', ({ report }) => report.activations.length, formatCount),
  numberColumn('Weights', ({ report }) => report.weights.length, formatCount),
  numberColumn('In float', ({ report }) => report.inFloat.length, formatCount, { hint: 'Nodes that stay in float' }),
  textColumn(
    'Lowest alone',
    ({ own }) => own?.name ?? '',
    part => <ValueLink part={part} layer={part.own} />,
  ),
  numberColumn('Own (dB)', ({ own }) => own?.own ?? undefined, formatDb, { first: 'up' }),
  textColumn(
    'Lowest in the model',
    ({ propagated }) => propagated?.name ?? '',
    part => <ValueLink part={part} layer={part.propagated} />,
  ),
  numberColumn('Propagated (dB)', ({ propagated }) => propagated?.propagated ?? undefined, formatDb, { first: 'up' }),
];

const COST: readonly ColumnSpec<Part>[] = [
  textColumn(
    'Costs most',
    ({ cost }) => cost?.name ?? '',
    part => <ValueLink part={part} layer={part.cost} />,
    { hint: 'The value with the largest share in the error of the outputs; among measured ones where there are any' },
  ),
  numberColumn('Share', ({ cost }) => cost?.cost?.share, formatShare, { hint: 'In the error of the outputs' }),
  textColumn('Basis', ({ cost }) => (cost?.cost === undefined ? '' : COST_BASIS[cost.cost.basis])),
];
