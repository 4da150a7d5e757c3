/** Latency as `bench` measured it: parts, ways to feed heads, steps of a detector, and operators. */
import { isJsonObject, type Json } from '../../../base/json.js';
import { formatCount, formatFixed, formatMs, formatShare } from '../../../report/numbers.js';
import {
  type BenchReport,
  describeStrategy,
  type FormReport,
  type PartReport,
  type StrategyReport,
} from '../../../runtime/measure/bench-report.js';
import { numberColumn, textColumn } from '../parts/columns.js';
import type { ColumnSpec } from '../parts/data-table.js';
import { Badge } from '../parts/notice.js';
import { plainText } from '../parts/text.js';
import type { Named, ReportResults } from './report-results.js';
import { CaptionedTable, ReportSection } from './report-section.js';
import { StageName } from './stage-name.js';

export function Latency({ bench }: Pick<ReportResults, 'bench'>) {
  if (bench.length === 0) return null;
  return (
    <ReportSection id="latency" title="Latency">
      {bench.map(one => (
        <OneBench key={one.name} {...one} />
      ))}
    </ReportSection>
  );
}

function OneBench({ name, stage, value }: Named<BenchReport>) {
  const { where, warmup, repeats, parts, detector } = value;
  return (
    <>
      <h3>
        <StageName name={name} stage={stage} /> <Badge look="good">measured</Badge>
      </h3>
      <p class="soft">{`${formatCount(repeats)} runs after ${formatCount(warmup)} to warm up, on ${plainText(describeWhere(where))}.`}</p>
      <CaptionedTable
        caption="Whole models, or one batch at the median count of RoIs, in milliseconds."
        rows={parts.flatMap(part => part.forms.map((form, index): TimedForm => ({ part, form, isFirst: index === 0 })))}
        columns={FORMS}
        keyOf={({ part, form }) => `${part.part} ${form.form}`}
      />
      {detector !== undefined && (
        <CaptionedTable
          caption={`The whole detector on ${formatCount(detector.images)} images, in milliseconds per image by step.`}
          rows={Object.entries(detector.steps)}
          columns={STEPS}
          keyOf={([step]) => step}
        />
      )}
      {parts.map(part => part.counts.length > 0 && <Batching key={part.part} part={part} />)}
      <Operators parts={parts} />
    </>
  );
}

function describeWhere(where: BenchReport['where']): string {
  const flatten = (value: Json, path: string): readonly string[] => {
    if (value === null) return [];
    if (!isJsonObject(value)) return [`${path} ${String(value)}`];
    return Object.entries(value).flatMap(([name, member]) => flatten(member, path === '' ? name : `${path}.${name}`));
  };
  return flatten(where, '').join(', ');
}

interface TimedForm {
  readonly part: PartReport;
  readonly form: FormReport;
  /** The speedup stands in the first row of a part. */
  readonly isFirst: boolean;
}

/** At the median count of RoIs. */
function latencyOf({ form: { rows } }: TimedForm) {
  const [row] = rows;
  const count = row?.counts[row.counts.length >> 1];
  return count?.device ?? count?.here;
}

const FORMS: readonly ColumnSpec<TimedForm>[] = [
  textColumn(
    'Part',
    ({ part }) => part.part,
    ({ part }) => plainText(part.part),
  ),
  textColumn('Form', ({ form }) => form.form),
  ...(
    [
      ['p50', 'p50Ms'],
      ['p90', 'p90Ms'],
      ['p99', 'p99Ms'],
      ['Minimum', 'minMs'],
      ['Mean', 'meanMs'],
      ['Std dev', 'stdMs'],
    ] as const
  ).map(([title, key]) => numberColumn<TimedForm>(title, one => latencyOf(one)?.[key], formatMs)),
  numberColumn(
    'Speedup of int8',
    ({ part, isFirst }) => (isFirst ? part.speedup : undefined),
    speedup => `${formatFixed(speedup, 2)} ×`,
  ),
];

type Step = readonly [step: string, times: NonNullable<BenchReport['detector']>['steps'][string]];

const STEPS: readonly ColumnSpec<Step>[] = [
  textColumn(
    'Step',
    ([step]) => step,
    ([step]) => plainText(step),
  ),
  numberColumn('p50', ([, { p50Ms }]) => p50Ms, formatMs),
  numberColumn('p90', ([, { p90Ms }]) => p90Ms, formatMs),
  numberColumn('p99', ([, { p99Ms }]) => p99Ms, formatMs),
];

interface Batched {
  readonly form: FormReport;
  readonly row: StrategyReport;
  readonly index: number;
}

/** "how are heads fed fastest?" */
function Batching({ part }: { readonly part: PartReport }) {
  const { counts, forms } = part;
  const images = counts.reduce((sum, count) => sum + count.images, 0);
  return (
    <CaptionedTable
      caption={`${plainText(part.part)}: batchings of the RoIs of an image, at ${counts.map(({ rows }) => rows).join(', ')} RoIs, representative of ${formatCount(images)} images.`}
      rows={forms.flatMap(form => form.rows.map((row, index): Batched => ({ form, row, index })))}
      columns={batchColumns(part, images)}
      keyOf={({ form, index }) => `${form.form} ${index}`}
    />
  );
}

function batchColumns({ counts, forms }: PartReport, images: number): readonly ColumnSpec<Batched>[] {
  const slowest = Math.max(...forms.flatMap(({ rows }) => rows.map(({ perImageMs }) => perImageMs)));
  const paddedOf = ({ row }: Batched): number =>
    counts.reduce((sum, count, at) => sum + count.images * (row.counts[at]?.padded ?? 0), 0) / images;
  return [
    textColumn('Batching', ({ row }) => describeStrategy(row.strategy)),
    textColumn('Form', ({ form }) => form.form),
    ...counts.map(({ rows }, at) =>
      numberColumn<Batched>(`p50 at ${rows} (ms)`, ({ row }) => (row.counts[at]?.device ?? row.counts[at]?.here)?.p50Ms, formatMs),
    ),
    numberColumn(
      'Mean per image (ms)',
      ({ row }) => row.perImageMs,
      (ms, { form }) => (
        <>
          <Bar share={ms / slowest} side={forms.indexOf(form)} />
          {formatMs(ms)}
        </>
      ),
      { first: 'up' },
    ),
    numberColumn('Padded RoIs', paddedOf, one => formatFixed(one, 1)),
    textColumn(
      '',
      ({ form, index }) => (index === form.best ? 'fastest' : ''),
      ({ form, index }) => index === form.best && <span class="good">✓ fastest</span>,
    ),
  ];
}

function Bar({ share, side }: { readonly share: number; readonly side: number }) {
  return (
    <svg class={`inline-bar bar side-${side}`} width="60" height="8" aria-hidden="true">
      <rect x={60 - Math.round(60 * share)} width={Math.round(60 * share)} height="8" rx="2" />
    </svg>
  );
}

/** Operators shown of each model. */
const MOST_OPERATORS = 8;

interface TimedOperator {
  readonly opType: string;
  readonly meanMs: number;
  readonly part: number;
}

function Operators({ parts }: { readonly parts: readonly PartReport[] }) {
  const profiles = parts.flatMap(({ part, forms }) =>
    forms.flatMap(({ form, profile }) => (profile === undefined ? [] : [{ part, form, profile }])),
  );
  if (profiles.length === 0) return null;
  return (
    <details>
      <summary>Times per operator</summary>
      {profiles.map(({ part, form, profile: { operators } }) => {
        const total = operators.reduce((sum, { meanMs }) => sum + meanMs, 0);
        return (
          <CaptionedTable
            key={`${part} ${form}`}
            caption={`${plainText(part)}, ${form}: the slowest of ${operators.length} operators; profiling slows them down.`}
            rows={operators
              .slice(0, MOST_OPERATORS)
              .map(({ opType, meanMs }): TimedOperator => ({ opType, meanMs, part: total === 0 ? 0 : meanMs / total }))}
            columns={OPERATORS}
            keyOf={({ opType }) => opType}
          />
        );
      })}
    </details>
  );
}

const OPERATORS: readonly ColumnSpec<TimedOperator>[] = [
  textColumn(
    'Operator',
    ({ opType }) => opType,
    ({ opType }) => plainText(opType),
  ),
  numberColumn('Mean (ms)', ({ meanMs }) => meanMs, formatMs),
  numberColumn('Share', ({ part }) => part, formatShare),
];
