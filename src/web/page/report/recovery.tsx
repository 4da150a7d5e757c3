/** What `correct-biases` and `round-weights` changed, and the error before and after. */
import type { RecoveryReport } from '../../../quant/recovery/recovery-report.js';
import { formatCount, formatDb } from '../../../report/numbers.js';
import { numberColumn, textColumn } from '../parts/columns.js';
import type { ColumnSpec } from '../parts/data-table.js';
import { plainText } from '../parts/text.js';
import type { Named, ReportResults } from './report-results.js';
import { CaptionedTable, ReportSection } from './report-section.js';
import { StageName } from './stage-name.js';

type Output = RecoveryReport['outputs'][number];
type Layer = RecoveryReport['layers'][number];

/** A layer that was tried, or one that was left out. */
interface LayerRow {
  /** Names of nodes may repeat. */
  readonly index: number;
  readonly node: string;
  readonly layer: Layer | undefined;
  readonly result: string;
}

/** Results of layers that keep what they were. */
const KEPT: Readonly<Record<string, string>> = {
  'below-half-a-step': 'unchanged: the correction is below half a step of the bias',
  'same-integers': 'unchanged: nothing rounds differently',
  'error-not-lower': 'unchanged: the error did not fall',
  'taken-back': 'unchanged: the outputs are better without it',
};

export function Recovery({ recovery }: Pick<ReportResults, 'recovery'>) {
  if (recovery.length === 0) return null;
  return (
    <ReportSection id="recovery" title="Recovered accuracy">
      <p class="soft">
        The changes of the stages after quantization. The SQNR is that of a layer’s output after its activation function, with the changes
        of all layers before it.
      </p>
      {recovery.map(one => (
        <OneRecovery key={one.name} {...one} />
      ))}
    </ReportSection>
  );
}

function OneRecovery({ name, stage, value }: Named<RecoveryReport>) {
  const isBias = value.format === 'tanren-bias-corrections/1';
  const changed = value.layers.filter(({ result }) => KEPT[result] === undefined);
  return (
    <>
      <h3>
        <StageName name={name} stage={stage} />
      </h3>
      <p>
        {`New ${isBias ? 'biases' : 'weights'} in ${formatCount(changed.length)} of ${formatCount(value.layers.length + value.skipped.length)} layers, by ${formatCount(value.samples)} samples.`}
      </p>
      <CaptionedTable caption={`${plainText(name)}: outputs.`} rows={value.outputs} columns={OUTPUTS} keyOf={output => output.name} />
      <details>
        <summary>Every layer</summary>
        <CaptionedTable
          caption={`${plainText(name)}: layers.`}
          rows={rowsOf(value)}
          columns={layerColumns(isBias)}
          keyOf={({ index }) => String(index)}
        />
      </details>
    </>
  );
}

function rowsOf({ layers, skipped }: RecoveryReport): readonly LayerRow[] {
  return [
    ...layers.map(layer => ({ node: layer.node, layer, result: KEPT[layer.result] ?? 'changed' })),
    ...skipped.map(({ node, reason }) => ({ node, layer: undefined, result: `left out: ${plainText(reason)}` })),
  ].map((row, index): LayerRow => ({ ...row, index }));
}

function dbColumn<Row>(title: string, of: (row: Row) => number | null | undefined): ColumnSpec<Row> {
  return {
    name: title,
    title,
    numeric: true,
    rank: row => {
      const db = of(row);
      return db === null ? Number.POSITIVE_INFINITY : db;
    },
    cell: row => {
      const db = of(row);
      return db === undefined ? '–' : db === null ? 'no error' : formatDb(db);
    },
  };
}

const OUTPUTS: readonly ColumnSpec<Output>[] = [
  textColumn(
    'Output',
    ({ name }) => name,
    ({ name }) => <code>{plainText(name)}</code>,
  ),
  dbColumn('SQNR before (dB)', ({ sqnrDb }) => sqnrDb.before),
  dbColumn('SQNR after (dB)', ({ sqnrDb }) => sqnrDb.after),
  textColumn(
    '',
    output => (isWorse(output) ? 'worse' : ''),
    output => isWorse(output) && <span class="bad">✗ worse</span>,
  ),
];

function isWorse({ sqnrDb: { before, after } }: Output): boolean {
  return (after ?? Number.POSITIVE_INFINITY) < (before ?? Number.POSITIVE_INFINITY);
}

function layerColumns(isBias: boolean): readonly ColumnSpec<LayerRow>[] {
  return [
    textColumn(
      'Layer',
      ({ node }) => node,
      ({ node }) => <code>{plainText(node)}</code>,
    ),
    dbColumn('SQNR before (dB)', ({ layer }) => layer?.sqnrDb.before),
    dbColumn('SQNR tried (dB)', ({ layer }) => layer?.sqnrDb.after),
    numberColumn(
      isBias ? 'Saturated elements' : 'Changed integers',
      ({ layer }) => (layer === undefined ? undefined : 'changed' in layer ? layer.changed : layer.saturated),
      formatCount,
    ),
    textColumn('Result', ({ result }) => result),
  ];
}
