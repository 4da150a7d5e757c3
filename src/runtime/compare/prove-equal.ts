/** Proof on samples that a changed model computes the outputs of the original, within a bound that the original's own rounding can widen. */
import { decodeModel } from '../../onnx/serde/decode-model.js';
import { encodeModel } from '../../onnx/serde/encode-model.js';
import { readModel } from '../../onnx/serde/model-file.js';
import { boundLoops } from '../../onnx/surgery/bound-loops.js';
import type { NamedTensors } from '../session/model-inputs.js';
import { type ComparedModels, compareModels, type ModelSource, type Sessions } from './compare-models.js';
import { type Equality, findInequality } from './equality.js';

export interface EqualityProof extends ComparedModels {
  /** Largest difference that ONNX Runtime's own optimizations make to the original's output. Measured for outputs that exceed the tolerance. */
  readonly spread: Readonly<Record<string, number>>;
  /** Loops of the original whose iterations were limited in both models, because their count is large, computed or missing. */
  readonly boundedLoops: number;
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
  /** Whether the original has a Loop. */
  readonly loops: 'some' | 'none';
  /** 'in turn' for large models: one session is in memory at a time. Default: 'together'. */
  readonly sessions?: Sessions;
}

/**
 * Both models run without ONNX Runtime's optimizations. @throws RuntimeError `model-load`, `model-run`, `outputs-differ`; what `openFeeds` throws.
 */
export async function proveEqual(claim: EqualityClaim): Promise<EqualityProof> {
  if (claim.loops === 'none') return { ...(await prove(claim)), boundedLoops: 0 };
  const before = await limitLoops(claim.before);
  if (before.boundedLoops === 0) return { ...(await prove(claim)), boundedLoops: 0 };
  const after = await limitLoops(claim.after);
  return { ...(await prove({ ...claim, before: before.source, after: after.source })), boundedLoops: before.boundedLoops };
}

/** @returns the model as bytes if a Loop of it had to be limited. */
async function limitLoops(source: ModelSource): Promise<{ readonly source: ModelSource; readonly boundedLoops: number }> {
  const model = typeof source === 'string' ? await readModel(source) : decodeModel(source);
  const boundedLoops = boundLoops(model);
  return { source: boundedLoops === 0 ? source : encodeModel(model), boundedLoops };
}

const DISABLED = { optimization: 'disabled' } as const;

async function prove({
  before,
  after,
  openFeeds,
  wanted,
  sigmoids,
  sessions,
}: EqualityClaim): Promise<Omit<EqualityProof, 'boundedLoops'>> {
  const compared = await compareModels(before, after, openFeeds(), DISABLED, DISABLED, sessions);
  const listUnequal = (spread: Readonly<Record<string, number>>): readonly NonNullable<EqualityProof['unequal']>[] =>
    Object.entries(compared.outputs).flatMap(([output, figures]) => {
      const reason = findInequality(wanted, figures, sigmoids.has(output) ? 'sigmoid' : 'any', spread[output]);
      return reason === undefined ? [] : [{ output, reason }];
    });
  const unequal = listUnequal({});
  if (unequal.length === 0 || wanted.kind === 'exact') return { ...compared, spread: {}, unequal: unequal[0] };
  const all = await measureSpread({ before, openFeeds, ...(sessions === undefined ? {} : { sessions }) });
  const spread = Object.fromEntries(unequal.flatMap(({ output }) => (all.has(output) ? [[output, all.get(output) ?? 0]] : [])));
  return { ...compared, spread, unequal: listUnequal(spread)[0] };
}

/** ONNX Runtime's levels compute the same function, with other fusions and thus other roundings. Outputs whose shapes or NaN differ are left out. */
async function measureSpread({
  before,
  openFeeds,
  sessions,
}: Pick<EqualityClaim, 'before' | 'openFeeds' | 'sessions'>): Promise<ReadonlyMap<string, number>> {
  const spread = new Map<string, number>();
  const broken = new Set<string>();
  for (const optimization of ['basic', 'extended', 'all'] as const) {
    const { outputs } = await compareModels(before, before, openFeeds(), DISABLED, { optimization }, sessions);
    for (const [name, figures] of Object.entries(outputs)) {
      spread.set(name, Math.max(spread.get(name) ?? 0, figures.maxAbs));
      if (figures.shapes === 'different' || figures.broken > 0) broken.add(name);
    }
  }
  return new Map([...spread].filter(([name]) => !broken.has(name)));
}
