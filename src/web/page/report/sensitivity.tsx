/** What `sensitivity` found: the error of every output, and what each layer has in it. */
import { rankOf } from '../../../base/figure.js';
import type { LayerSensitivity, SensitivityReport } from '../../../quant/sensitivity/report-schema.js';
import { formatCount, formatDb, formatShare } from '../../../report/numbers.js';
import { numberColumn, textColumn } from '../parts/columns.js';
import type { ColumnSpec } from '../parts/data-table.js';
import { plainText } from '../parts/text.js';
import { settingOf } from '../quantization/layers.js';
import { CostBars } from './cost-bars.js';
import type { Named, ReportResults } from './report-results.js';
import { CaptionedTable, ReportSection } from './report-section.js';
import { StageName } from './stage-name.js';

export function Sensitivity({ sensitivity }: Pick<ReportResults, 'sensitivity'>) {
  if (sensitivity.length === 0) return null;
  return (
    <ReportSection id="sensitivity" title="Cost per layer">
      <p class="soft">
        Measured: the part of the errors of the outputs that vanishes when this layer alone is in float. Share: its part of them to first
        order; all layers together have 100 %. The two compare only roughly.
      </p>
      {sensitivity.map(one => (
        <OneReport key={one.name} {...one} />
      ))}
    </ReportSection>
  );
}

function OneReport({ name, stage, value: { samples, outputs, layers } }: Named<SensitivityReport>) {
  const shown = outputs.map(output => `${output.name} ${formatDb(output.sqnrDb)} dB`).join(', ');
  return (
    <>
      <h3>
        <StageName name={name} stage={stage} />
      </h3>
      <p>{plainText(`${formatCount(layers.length)} layers on ${formatCount(samples)} samples. SQNR of the outputs: ${shown}.`)}</p>
      <CostBars layers={layers} nameOf={nameOf} />
      <CaptionedTable
        caption={`${plainText(name)}: layers, the most expensive first.`}
        rows={layers}
        columns={COLUMNS}
        keyOf={({ values }) => values.join(' ')}
      />
    </>
  );
}

function nameOf({ values: [first = '', ...others] }: LayerSensitivity): string {
  return plainText(others.length === 0 ? first : `${first} + ${others.length}`);
}

function describeOperators({ nodes }: LayerSensitivity): string {
  return nodes.length === 0 ? 'input' : plainText([...new Set(nodes.map(({ opType }) => opType))].join(', '));
}

const OWN: ColumnSpec<LayerSensitivity> = {
  name: 'own',
  title: 'Own (dB)',
  hint: 'SQNR of the layer quantized alone',
  numeric: true,
  first: 'up',
  rank: ({ ownSqnrDb }) => rankOf(ownSqnrDb),
  cell: ({ ownSqnrDb }) => formatDb(ownSqnrDb),
};

const COLUMNS: readonly ColumnSpec<LayerSensitivity>[] = [
  textColumn('Layer', nameOf, layer => <code>{nameOf(layer)}</code>),
  textColumn('Operators', describeOperators),
  numberColumn('Measured', ({ alone }) => alone?.cost, formatShare),
  numberColumn('Share', ({ share }) => share, formatShare, { hint: 'To first order' }),
  OWN,
  textColumn('Setting of quantize', settingOf, layer => <code>{plainText(settingOf(layer))}</code>, {
    hint: 'It takes most of the error of the layer away',
  }),
];
