/** Chooses grid and form of a model on tiles: all candidates are rewritten, judged and estimated for the target. */
import { getDefined } from '../../src/base/invariant.js';
import { findInts } from '../../src/onnx/ir/attribute.js';
import type { Model } from '../../src/onnx/ir/model.js';
import type { MaskForm } from '../../src/onnx/tiles/clear-gaps.js';
import type { Pair } from '../../src/onnx/tiles/tile-facts.js';
import { type TiledModel, tileRois } from '../../src/onnx/tiles/tile-rois.js';
import { evaluate } from '../../src/runtime/session/evaluate.js';
import { compileModel } from '../../src/target/compile-model.js';
import { mean } from '../../src/target/estimate/batch-estimate.js';
import { scaleEstimate } from '../../src/target/estimate/estimate.js';
import type { Target } from '../../src/target/profile/choose-target.js';
import type { LatencyEstimate } from '../../src/target/report/compile-report.js';

export type StrideForm = 'direct' | 'strided';

/** What a candidate of this form may use. */
const STRIDES = { direct: 'any', strided: [1, 2, 4] } as const;

export interface TileRequest {
  readonly name: string;
  readonly model: Model;
  readonly target: Target;
  readonly mask: MaskForm;
  readonly forms: readonly StrideForm[];
  readonly grids: readonly Pair<number>[];
  /** RoIs per image; undefined where they are unknown and one grid is given. */
  readonly counts: readonly number[] | undefined;
}

export type Candidate = {
  readonly grid: Pair<number>;
  readonly form: StrideForm;
  /** Mean number of calls per image; 1 where RoI counts are unknown. */
  readonly calls: number;
  readonly npuMacShare: number;
  readonly perCall: LatencyEstimate;
  readonly perImage: LatencyEstimate;
};

export interface ChosenTiles {
  readonly tiled: TiledModel;
  readonly chosen: Candidate;
  readonly candidates: readonly Candidate[];
}

/** The largest share on the NPU, then the fastest estimate per image, then the first candidate. @throws OnnxError of `tileRois`. */
export async function chooseTiles({ name, model, target, mask, forms, grids, counts }: TileRequest): Promise<ChosenTiles> {
  const made: { readonly tiled: TiledModel; readonly candidate: Candidate }[] = [];
  for (const grid of grids) {
    const direct = forms.includes('direct') ? tileRois(model, { grid, mask, strides: 'any' }) : undefined;
    for (const form of forms) {
      if (form === 'strided' && direct !== undefined && !hasLongStride(direct.model)) continue;
      const tiled = form === 'direct' && direct !== undefined ? direct : tileRois(model, { grid, mask, strides: STRIDES[form] });
      const { report } = await compileModel(name, tiled.model, target, { evaluate, undocumented: 'cpu', accept: 'any' });
      const calls = counts === undefined ? 1 : mean(counts.map(count => Math.ceil(count / (grid[0] * grid[1]))));
      const perCall = report.estimate.image.perCall;
      const { npuMacShare } = report.counts;
      made.push({ tiled, candidate: { grid, form, calls, npuMacShare, perCall, perImage: scaleEstimate(perCall, calls) } });
    }
  }
  const best = made.reduce(
    (first, second) => (isBetter(second.candidate, first.candidate) ? second : first),
    getDefined(made[0], 'a candidate'),
  );
  return { tiled: best.tiled, chosen: best.candidate, candidates: made.map(({ candidate }) => candidate) };
}

/** Whether the strided form would be another model. */
function hasLongStride({ graph }: Model): boolean {
  const allowed: readonly number[] = STRIDES.strided;
  return [...graph.nodes.values()].some(
    node => node.opType === 'Conv' && findInts(node, 'strides')?.some(stride => !allowed.includes(stride)) === true,
  );
}

function isBetter(a: Candidate, b: Candidate): boolean {
  return a.npuMacShare === b.npuMacShare ? a.perImage.ms < b.perImage.ms : a.npuMacShare > b.npuMacShare;
}

/** Near-square grids of at most `most` tiles: 1×1, 1×2, 2×2, 2×3, … */
export function listGrids(most: number): readonly Pair<number>[] {
  const grids: Pair<number>[] = [];
  for (let rows = 1, columns = 1; rows * columns <= most; rows === columns ? columns++ : rows++) grids.push([rows, columns]);
  return grids;
}
