/** Accuracy of every side: the 12 COCO figures with their differences to the first side, or all metrics of another task. */

import type { Figure } from '../../../base/figure.js';
import { isFigure } from '../../../base/figure.js';
import { isJsonObject, type Json } from '../../../base/json.js';
import { capitalize } from '../../../base/text/capitalize.js';
import { COCO_FIGURE_NAMES, COCO_KINDS, KIND_PLURALS } from '../../../detection/coco/figure-names.js';
import { findColumnHint } from '../../../report/column-hints.js';
import { formatCount, formatDelta, formatFigure, formatFixed } from '../../../report/numbers.js';
import { findCocoFigure } from '../parts/coco-figures.js';
import { numberColumn, textColumn } from '../parts/columns.js';
import type { ColumnSpec } from '../parts/data-table.js';
import { plainText } from '../parts/text.js';
import { AccuracyBars } from './accuracy-bars.js';
import type { ReportResults } from './report-results.js';
import { CaptionedTable, ReportSection } from './report-section.js';

type Metrics = ReportResults['metrics'];

export function Accuracy({ metrics }: { readonly metrics: Metrics }) {
  if (metrics.length === 0) return null;
  const kinds = COCO_KINDS.filter(kind => metrics.some(({ value }) => isJsonObject(value[kind])));
  return (
    <ReportSection id="accuracy" title="Accuracy" view={['results', 'Results']}>
      <p class="soft">
        Measured on {countImages(metrics)}. Differences are to {plainText(metrics[0]?.name ?? '')}.
      </p>
      {kinds.map(kind => (
        <div key={kind}>
          <h3>{capitalize(KIND_PLURALS[kind])}</h3>
          <AccuracyBars title={capitalize(KIND_PLURALS[kind])} kind={kind} metrics={metrics} />
          <CaptionedTable
            caption={`${capitalize(KIND_PLURALS[kind])}: the 12 COCO figures. AP is the mean over IoU 0.50 to 0.95; AR is the recall at that number of detections per image.`}
            rows={COCO_FIGURE_NAMES}
            columns={cocoColumns(kind, metrics)}
            keyOf={name => name}
          />
        </div>
      ))}
      {kinds.length === 0 && <OtherMetrics metrics={metrics} />}
    </ReportSection>
  );
}

function countImages(metrics: Metrics): string {
  const counts = [...new Set(metrics.flatMap(({ value }) => (typeof value.images === 'number' ? [value.images] : [])))];
  const [count] = counts;
  return count === undefined || counts.length > 1 ? 'the images of each column' : `${formatCount(count)} images`;
}

function cocoColumns(kind: string, metrics: Metrics): readonly ColumnSpec<string>[] {
  const [first] = metrics;
  return [
    textColumn(
      'Figure',
      name => name,
      name => <span title={findColumnHint(name)}>{name}</span>,
    ),
    ...metrics.flatMap(({ name: side, value }, index): readonly ColumnSpec<string>[] => {
      const of = (name: string): number | undefined => findCocoFigure(value, kind, name);
      const change = (name: string): number | undefined => {
        const [own, base] = [of(name), first === undefined ? undefined : findCocoFigure(first.value, kind, name)];
        return own === undefined || base === undefined ? undefined : own - base;
      };
      const figure = { ...numberColumn(plainText(side), of, one => formatFixed(one, 4)), name: `side ${side}` };
      if (index === 0) return [figure];
      const difference = numberColumn('difference', change, one => <span class="soft">{formatDelta(one, 4)}</span>, {
        hint: 'Against the first side',
        first: 'up',
      });
      return [figure, { ...difference, name: `difference ${side}` }];
    }),
  ];
}

/** Metrics of other tasks, such as the top-1 of a classifier: every number of every side. */
function OtherMetrics({ metrics }: { readonly metrics: Metrics }) {
  const flat = metrics.map(({ value }) => new Map(flatten(value, '')));
  const names = [...new Set(flat.flatMap(figures => [...figures.keys()]))];
  const columns: readonly ColumnSpec<string>[] = [
    textColumn(
      'Figure',
      name => name,
      name => <code>{plainText(name)}</code>,
    ),
    ...metrics.map(({ name: side }, index): ColumnSpec<string> => {
      const of = (name: string): Figure | undefined => flat[index]?.get(name);
      return {
        name: `side ${side}`,
        title: plainText(side),
        numeric: true,
        rank: name => {
          const figure = of(name);
          return typeof figure === 'number' ? figure : undefined;
        },
        cell: name => {
          const figure = of(name);
          return figure === undefined ? '–' : formatFigure(figure);
        },
      };
    }),
  ];
  return <CaptionedTable caption="All metrics." rows={names} columns={columns} keyOf={name => name} />;
}

function flatten(value: Json, path: string): readonly (readonly [string, Figure])[] {
  if (isFigure(value)) return [[path, value]];
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => flatten(member, path === '' ? name : `${path}.${name}`));
}
