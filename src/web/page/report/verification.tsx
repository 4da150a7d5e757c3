/** What `verify` found: errors of values and differences of detections, step by step. */
import { EQUAL, rankOf } from '../../../base/figure.js';
import { formatCount, formatFixed, formatNumber } from '../../../report/numbers.js';
import { numberColumn, textColumn } from '../parts/columns.js';
import type { ColumnSpec } from '../parts/data-table.js';
import { plainText } from '../parts/text.js';
import { InnerValues } from './inner-values.js';
import type { Named, ReportResults, VerifyReport } from './report-results.js';
import { CaptionedTable, ReportSection } from './report-section.js';
import { sqnrColumn } from './sqnr-column.js';
import { StageName } from './stage-name.js';

type Comparison = VerifyReport['values'][string];
type Step = Named<VerifyReport>;

interface ComparedValue {
  readonly value: string;
  readonly comparison: Comparison;
}

export function Verification({ results }: { readonly results: ReportResults }) {
  const { verify } = results;
  if (verify.length === 0) return null;
  const withDetections = verify.filter(({ value }) => value.detections !== undefined);
  return (
    <ReportSection id="verification" title="Verification">
      <p class="soft">
        Each step compared with the one before it on the same images: the outputs of every part, and the detections matched by class and
        IoU.
      </p>
      <CaptionedTable caption="Outputs: the worst value of each step." rows={verify} columns={WORST} keyOf={({ name }) => name} />
      {withDetections.length > 0 && (
        <CaptionedTable
          caption="Detections, matched by class and IoU."
          rows={withDetections}
          columns={DETECTIONS}
          keyOf={({ name }) => name}
        />
      )}
      <InnerValues results={results} />
      <details>
        <summary>Every output of every step</summary>
        {verify.map(({ name, value }) => (
          <CaptionedTable
            key={name}
            caption={`Step ${plainText(name)}`}
            rows={Object.entries(value.values).map(([one, comparison]): ComparedValue => ({ value: one, comparison }))}
            columns={VALUES}
            keyOf={one => one.value}
          />
        ))}
      </details>
    </ReportSection>
  );
}

function comparisonColumns<Row>(of: (row: Row) => Comparison | undefined): readonly ColumnSpec<Row>[] {
  return [
    sqnrColumn(row => of(row)?.sqnrDb),
    numberColumn(
      'Cosine',
      row => of(row)?.cosine,
      one => formatFixed(one, 6),
      { first: 'up' },
    ),
    numberColumn('Largest difference', row => of(row)?.maxAbs, formatNumber),
  ];
}

function worstOf({ value: { values } }: Step): ComparedValue | undefined {
  return Object.entries(values)
    .map(([value, comparison]): ComparedValue => ({ value, comparison }))
    .reduce<ComparedValue | undefined>(
      (least, one) => (least === undefined || rankOf(one.comparison.sqnrDb) < rankOf(least.comparison.sqnrDb) ? one : least),
      undefined,
    );
}

const STEP: ColumnSpec<Step> = textColumn(
  'Step',
  ({ name }) => name,
  ({ name, stage }) => <StageName name={name} stage={stage} />,
);

const WORST: readonly ColumnSpec<Step>[] = [
  STEP,
  textColumn(
    'Worst value',
    step => worstOf(step)?.value ?? '',
    step => {
      const worst = worstOf(step);
      if (worst === undefined) return '–';
      return worst.comparison.sqnrDb === EQUAL ? 'all equal' : <code>{plainText(worst.value)}</code>;
    },
  ),
  ...comparisonColumns<Step>(step => worstOf(step)?.comparison),
];

const VALUES: readonly ColumnSpec<ComparedValue>[] = [
  textColumn(
    'Value',
    ({ value }) => value,
    ({ value }) => <code>{plainText(value)}</code>,
  ),
  ...comparisonColumns<ComparedValue>(({ comparison }) => comparison),
];

const DETECTIONS: readonly ColumnSpec<Step>[] = [
  STEP,
  numberColumn('Before', ({ value }) => value.detections?.reference, formatCount),
  numberColumn('After', ({ value }) => value.detections?.candidate, formatCount),
  numberColumn('Matched', ({ value }) => value.detections?.matched, formatCount, {
    hint: 'Pairs of a detection before and one after, of one class and with enough overlap',
  }),
  numberColumn('Missed', ({ value }) => value.detections?.missed, formatCount, { hint: 'Detections before that have no partner after' }),
  numberColumn('Extra', ({ value }) => value.detections?.extra, formatCount, { hint: 'Detections after that have no partner before' }),
  numberColumn(
    'Mean box IoU',
    ({ value }) => value.detections?.meanBoxIou,
    one => formatFixed(one, 4),
    { first: 'up' },
  ),
  numberColumn(
    'Mean mask IoU',
    ({ value }) => value.detections?.meanMaskIou,
    one => formatFixed(one, 4),
    { first: 'up' },
  ),
  numberColumn(
    'Largest score difference',
    ({ value }) => value.detections?.maxScoreDifference,
    one => formatFixed(one, 4),
  ),
];
