/** The values of a quantized model with everything that the reports of several stages say about them. */
import type { PartErrors } from '../../../quant/compare/propagated-error.js';
import type { ActivationEntry, QuantizationReport } from '../../../quant/report/report-entries.js';
import { costOf, type LayerSensitivity, type SensitivityReport } from '../../../quant/sensitivity/report-schema.js';

export interface LayerCost {
  readonly share: number;
  /** 'measured': by a run with this layer alone in float. 'first-order': a share by a linear model. */
  readonly basis: 'measured' | 'first-order';
  /** The setting of `quantize` that takes most of the error away. */
  readonly setting: string;
}

export const COST_BASIS: Readonly<Record<LayerCost['basis'], string>> = { measured: 'measured', 'first-order': 'to first order' };

export interface Layer {
  readonly name: string;
  readonly index: number;
  readonly opType: string;
  readonly node: string;
  /** dB; null where nothing is lost. */
  readonly own: number | null | undefined;
  readonly propagated: number | null | undefined;
  readonly maxAbs: number | undefined;
  /** Share in the error of the outputs. */
  readonly cost: LayerCost | undefined;
  readonly activation: ActivationEntry | undefined;
  /** The activation function that the value goes into without Q and DQ. */
  readonly fusedInto: string | undefined;
}

/** In the order of the graph: that of the propagated errors where they are known, else that of the report. */
export function joinLayers(
  { activations, fused }: Pick<QuantizationReport, 'activations' | 'fused'>,
  part: PartErrors | undefined,
  sensitivity: SensitivityReport | undefined,
): readonly Layer[] {
  const byName = new Map(activations.map(one => [one.name, one]));
  const costs = costsOf(sensitivity);
  const fusedInto = new Map(fused.map(({ input, opType }) => [input, opType]));
  const propagated = new Map((part?.values ?? []).map(one => [one.value, one]));
  const names = [...new Set([...propagated.keys(), ...byName.keys()])];
  return names.map((name, index) => {
    const error = propagated.get(name);
    const activation = byName.get(name);
    return {
      name,
      index,
      opType: error?.opType || (error?.node === '' ? 'input' : ''),
      node: error?.node ?? '',
      own: activation?.sqnrDb,
      propagated: error === undefined ? undefined : error.sqnrDb === 'equal' ? null : error.sqnrDb,
      maxAbs: error?.maxAbs,
      cost: costs.get(name),
      activation,
      fusedInto: fusedInto.get(name),
    };
  });
}

function costsOf(sensitivity: SensitivityReport | undefined): ReadonlyMap<string, LayerCost> {
  const layers = sensitivity?.layers ?? [];
  return new Map(
    layers.flatMap(layer => {
      const cost: LayerCost = {
        share: costOf(layer),
        basis: layer.alone === undefined ? 'first-order' : 'measured',
        setting: settingOf(layer),
      };
      return layer.values.map((value): [string, LayerCost] => [value, cost]);
    }),
  );
}

/** Entries of the param `overrides`: the values of the layer in 16 bits. Values that a Concat joins may also keep a scale each. */
export function settingOf({ values, nodes }: LayerSensitivity): string {
  const wider = values.map(value => `{tensor: ${JSON.stringify(value)}, set: {dtype: int16}}`).join(', ');
  return `${nodes.some(({ opType }) => opType === 'Concat') ? 'joins: separate, or ' : ''}overrides: [${wider}]`;
}
