/** Proof on samples that a changed model computes the outputs of the original, within a bound that the original's own rounding can widen. */
import type { NamedTensors } from '../session/model-inputs.js';
import { type ComparedModels, compareModels, type ModelSource } from './compare-models.js';
import { type Equality, findInequality } from './equality.js';

export interface EqualityProof extends ComparedModels {
  /** Largest difference that ONNX Runtime's own optimizations make to the original's output. Measured for outputs that exceed the tolerance. */
  readonly spread: Readonly<Record<string, number>>;
  /** The first output that is not equal, and the reason with figures. */
  readonly unequal: { readonly output: string; readonly reason: string } | undefined;
}

export interface EqualityClaim {
  readonly before: ModelSource;
  readonly after: ModelSource;
  /** Gives the same inputs each time. */
  readonly openFeeds: () => Iterable<NamedTensors> | AsyncIterable<NamedTensors>;
  readonly wanted: Equality;
  /** Outputs that a Sigmoid computes. */
  readonly sigmoids: ReadonlySet<string>;
}

/** Both models run without ONNX Runtime's optimizations. @throws RuntimeError `model-load`, `model-run`, `outputs-differ`; what `openFeeds` throws. */
export async function proveEqual({ before, after, openFeeds, wanted, sigmoids }: EqualityClaim): Promise<EqualityProof> {
  const compared = await compareModels(before, after, openFeeds(), { optimization: 'disabled' });
  const listUnequal = (spread: Readonly<Record<string, number>>): readonly NonNullable<EqualityProof['unequal']>[] =>
    Object.entries(compared.outputs).flatMap(([output, figures]) => {
      const reason = findInequality(wanted, figures, sigmoids.has(output) ? 'sigmoid' : 'any', spread[output]);
      return reason === undefined ? [] : [{ output, reason }];
    });
  const unequal = listUnequal({});
  if (unequal.length === 0 || wanted.kind === 'exact') return { ...compared, spread: {}, unequal: unequal[0] };
  const all = await measureSpread(before, openFeeds);
  const spread = Object.fromEntries(unequal.flatMap(({ output }) => (all.has(output) ? [[output, all.get(output) ?? 0]] : [])));
  return { ...compared, spread, unequal: listUnequal(spread)[0] };
}

/** ONNX Runtime's levels compute the same function, with other fusions and thus other roundings. Outputs whose shapes or NaN differ are left out. */
async function measureSpread(model: ModelSource, openFeeds: EqualityClaim['openFeeds']): Promise<ReadonlyMap<string, number>> {
  const spread = new Map<string, number>();
  const broken = new Set<string>();
  for (const optimization of ['basic', 'extended', 'all'] as const) {
    const { outputs } = await compareModels(model, model, openFeeds(), { optimization: 'disabled' }, { optimization });
    for (const [name, figures] of Object.entries(outputs)) {
      spread.set(name, Math.max(spread.get(name) ?? 0, figures.maxAbs));
      if (figures.shapes === 'different' || figures.broken > 0) broken.add(name);
    }
  }
  return new Map([...spread].filter(([name]) => !broken.has(name)));
}
