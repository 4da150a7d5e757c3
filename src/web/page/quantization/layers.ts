/** The values of a quantized model with everything that the reports of several stages say about them. */
import type { Figure } from '../../../base/figure.js';

/** The parts of the report of `quantize` that the page uses. */
export interface QuantReport {
  readonly scheme: { readonly preset?: { readonly name: string } };
  readonly samples: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly activations: readonly ActivationEntry[];
  readonly weights: readonly WeightEntry[];
  /** Activation functions that no Q and DQ precede. */
  readonly fused: readonly { readonly node: string; readonly opType: string; readonly input: string }[];
  readonly inFloat: readonly { readonly node: string; readonly opType: string; readonly reason: string }[];
  readonly positions?: { readonly moves: readonly unknown[] };
}

export interface ActivationEntry {
  readonly name: string;
  readonly method: string;
  readonly range: readonly number[];
  readonly dtype: string;
  readonly scale: number;
  readonly zeroPoint: number;
  readonly dataRange?: readonly number[];
  readonly saturationShare?: number;
  /** null: nothing is lost. */
  readonly sqnrDb?: number | null;
  readonly sharedWith?: string;
}

export interface WeightEntry {
  readonly name: string;
  readonly role: string;
  readonly method: string;
  readonly dtype: string;
  readonly scale: readonly number[];
  readonly zeroPoint: readonly number[];
  readonly sqnrDb: number | null;
  readonly axis?: number;
}

/** The part of the report of `verify` with `values: all`. */
export interface VerifyReport {
  readonly propagated?: readonly { readonly part: string; readonly values: readonly PropagatedEntry[] }[];
}

interface PropagatedEntry {
  readonly value: string;
  readonly node: string;
  readonly opType: string;
  readonly sqnrDb: Figure;
  readonly maxAbs?: number;
  readonly cosine?: number;
}

/** The part of the report of `sensitivity` that the page uses. */
export interface SensitivityReport {
  readonly layers: readonly { readonly values: readonly string[]; readonly share: number; readonly alone?: { readonly cost: number } }[];
}

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
  readonly cost: number | undefined;
  readonly activation: ActivationEntry | undefined;
  /** The activation function that the value goes into without Q and DQ. */
  readonly fusedInto: string | undefined;
}

/** In the order of the graph: that of the propagated errors where they are known, else that of the report. */
export function joinLayers(
  { activations, fused }: QuantReport,
  verify: VerifyReport | undefined,
  sensitivity: SensitivityReport | undefined,
): readonly Layer[] {
  const byName = new Map(activations.map(one => [one.name, one]));
  const part = verify?.propagated?.find(({ values }) => values.some(({ value }) => byName.has(value)));
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

/** The exact cost of a layer where it was measured, else its share to first order. */
function costsOf(sensitivity: SensitivityReport | undefined): ReadonlyMap<string, number> {
  const layers = sensitivity?.layers ?? [];
  return new Map(layers.flatMap(({ values, share, alone }) => values.map((value): [string, number] => [value, alone?.cost ?? share])));
}
