/** Errors of inner values that no report of `quantize` stands beside: a chart in graph order and a table for each model. */
import type { PartErrors, PropagatedError } from '../../../quant/compare/propagated-error.js';
import { formatCount, formatFixed, formatNumber } from '../../../report/numbers.js';
import { numberColumn, textColumn } from '../parts/columns.js';
import type { ColumnSpec } from '../parts/data-table.js';
import { plainText } from '../parts/text.js';
import { ErrorChart } from '../quantization/error-chart.js';
import { joinLayers } from '../quantization/layers.js';
import { findOtherErrors } from './part-errors.js';
import type { ReportResults } from './report-results.js';
import { CaptionedTable } from './report-section.js';
import { sqnrColumn } from './sqnr-column.js';
import { StageName } from './stage-name.js';

export function InnerValues({ results }: { readonly results: ReportResults }) {
  return (
    <>
      {findOtherErrors(results).map(({ step: { name, stage }, parts }) => (
        <div key={name}>
          <h3>
            Inner values, <StageName name={name} stage={stage} />
          </h3>
          {parts.map(part => (
            <OnePart key={part.part} errors={part} />
          ))}
        </div>
      ))}
    </>
  );
}

function OnePart({ errors }: { readonly errors: PartErrors }) {
  const { part, samples, values, unmatched } = errors;
  const name = plainText(part);
  return (
    <>
      <p class="soft">
        {`${name}: ${formatCount(values.length)} values on ${formatCount(samples)} samples, against the model before the step${
          unmatched.length === 0
            ? ''
            : `; ${formatCount(unmatched.length)} ${unmatched.length === 1 ? 'has' : 'have'} no counterpart: fused or removed`
        }.`}
      </p>
      <ErrorChart layers={joinLayers({ activations: [], fused: [] }, errors, undefined)} picked={undefined} />
      <details>
        <summary>
          All {formatCount(values.length)} values of {name}
        </summary>
        <CaptionedTable
          caption={`${name}: errors of inner values, in graph order.`}
          rows={values}
          columns={COLUMNS}
          keyOf={({ value }) => value}
        />
      </details>
    </>
  );
}

const COLUMNS: readonly ColumnSpec<PropagatedError>[] = [
  textColumn(
    'Value',
    ({ value }) => value,
    ({ value }) => <code>{plainText(value)}</code>,
  ),
  textColumn('Operator', ({ opType, node }) => plainText(opType === '' && node === '' ? 'input' : opType)),
  sqnrColumn(({ sqnrDb }) => sqnrDb),
  numberColumn(
    'Cosine',
    ({ cosine }) => cosine,
    one => formatFixed(one, 6),
    { first: 'up' },
  ),
  numberColumn('Largest difference', ({ maxAbs }) => maxAbs, formatNumber),
];
