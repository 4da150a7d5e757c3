/** The values of a quantized model in several runs, side by side. */
import type { QuantizationReport } from '../../../quant/report/report-entries.js';
import { joinLayers } from '../quantization/layers.js';

export interface LayerRow {
  readonly name: string;
  readonly opType: string;
  /** Per run; infinite for equal values, undefined where the value is not quantized. */
  readonly own: readonly (number | undefined)[];
  readonly dtypes: readonly (string | undefined)[];
  /** Last minus first. */
  readonly change: number;
}

/** Values of any of the reports; the one that lost most comes first. */
export function joinRuns(reports: readonly QuantizationReport[]): readonly LayerRow[] {
  const layers = reports.map(report => new Map(joinLayers(report, undefined, undefined).map(layer => [layer.name, layer])));
  const names = [...new Set(layers.flatMap(one => [...one.keys()]))];
  const rows = names.map((name): LayerRow => {
    const all = layers.map(one => one.get(name));
    const own = all.map(layer => layer?.own ?? undefined);
    return {
      name,
      opType: all.find(layer => layer !== undefined)?.opType ?? '',
      own,
      dtypes: all.map(layer => layer?.activation?.dtype),
      change: changeOf(own[0], own.at(-1)),
    };
  });
  return rows.sort((a, b) => a.change - b.change);
}

function changeOf(first: number | undefined, last: number | undefined): number {
  if (first === last) return 0;
  return (last ?? Number.POSITIVE_INFINITY) - (first ?? Number.POSITIVE_INFINITY) || 0;
}
