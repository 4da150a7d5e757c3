/** Formats the comparison of dumped tensors with a simulation. */
import { countOf } from '../../base/text/count-of.js';
import type { ComparedValue, Deviation, DumpComparison } from '../../quant/simulate/dumps/compare-dumps.js';
import type { Style } from '../terminal/style.js';
import { formatTable } from '../terminal/text-table.js';

export interface DumpView {
  /** Quantized values of the model without a dump. */
  readonly missing: number;
  readonly unknown: readonly string[];
  /** 'all': also values that do not deviate. */
  readonly show: 'all' | 'some';
  readonly style: Style;
}

const SOME = 10;

export function formatDumps({ rounding, values, first, shares }: DumpComparison, view: DumpView): readonly string[] {
  const { missing, unknown, show, style } = view;
  const shown = show === 'all' ? values : values.filter(({ own, fromInputs }) => isOff(own) || isOff(fromInputs)).slice(0, SOME);
  const offGrid = values.filter(value => value.offGrid > 0);
  const alone = values.filter(({ own }) => own !== undefined).length;
  return [
    style(
      'bold',
      first === undefined
        ? `no layer deviates from ${rounding}`
        : `the first layer that deviates from ${rounding}: ${describe(values, first)}`,
    ),
    `${countOf(values.length, 'dumped value')}, ${alone} of them computed from the dumps before them; ${countOf(missing, 'value')} of the model without a dump`,
    '',
    ...formatTable([
      ['rounding', 'results', 'deviating', 'share'],
      ...shares.map(share => [
        share.rounding,
        String(share.elements),
        String(share.differing),
        formatShare(share.elements === 0 ? 0 : share.differing / share.elements),
      ]),
    ]),
    ...(shown.length === 0
      ? []
      : [
          '',
          ...formatTable([
            ['value', 'operator', 'results', 'layer alone', 'most steps', 'from the inputs', 'most steps'],
            ...shown.map(value => [value.name, value.opType, String(value.elements), ...cells(value.own), ...cells(value.fromInputs)]),
          ]),
        ]),
    ...offGrid.map(({ name, offGrid: count, elements }) => `${name}: ${count} of ${elements} dumped numbers are no multiple of its scale`),
    ...(unknown.length === 0
      ? []
      : [
          `not compared, no value of the model: ${unknown.slice(0, SOME).join(', ')}${unknown.length > SOME ? `, and ${unknown.length - SOME} more` : ''}`,
        ]),
  ];
}

function describe(values: readonly ComparedValue[], name: string): string {
  const value = values.find(one => one.name === name);
  return value === undefined ? name : `${name} (${value.opType}), ${value.own?.differing ?? 0} of ${value.elements} results`;
}

function isOff(deviation: Deviation | undefined): boolean {
  return (deviation?.differing ?? 0) > 0;
}

function cells(deviation: Deviation | undefined): readonly string[] {
  if (deviation === undefined) return ['–', '–'];
  return [
    String(deviation.differing),
    Number.isFinite(deviation.maxSteps) ? String(Number(deviation.maxSteps.toPrecision(3))) : 'no number',
  ];
}

function formatShare(share: number): string {
  return share === 0 ? '0 %' : `${(100 * share).toPrecision(2)} %`;
}
