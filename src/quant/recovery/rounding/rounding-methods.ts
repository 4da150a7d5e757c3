/** The methods that decide whether the weights of a layer are rounded up or down. */
import { type DampedProducts, dampProducts } from './damped-products.js';
import { fitLayer, judgeRows } from './fit-layer.js';
import type { FittedRows } from './fit-rows.js';
import type { LayerSums } from './layer-sums.js';
import { roundAdaptively } from './round-adaptively.js';
import { roundSequentially } from './round-sequentially.js';
import type { RowGrid } from './row-grid.js';
import { fitTarget, invertFactor } from './triangular-factor.js';

export interface RoundingSettings {
  readonly method: RoundingMethod;
  readonly damping: number;
  /** Steps of `adaround`; 0 for a method without steps. */
  readonly iterations: number;
}

/** How the weights of a layer are tried. */
export interface Way {
  /** Whether the weights are fitted to the float network's outputs first. */
  readonly fitted: boolean;
  readonly damping: number;
}

export interface LayerRows {
  /** Of all groups. */
  readonly rows: readonly { readonly weights: Float32Array; readonly grid: RowGrid }[];
  readonly sums: LayerSums;
}

export interface Rounding {
  /** Which of several ways is kept: the best, or the first that lowers the error, where one takes long. */
  readonly keeps: 'best' | 'first';
  /** Whether it takes few inputs in place of their products. */
  readonly few: 'products' | 'inputs';
  open(layer: LayerRows, settings: RoundingSettings): Promise<OpenRounding>;
}

export interface OpenRounding {
  /** In the order in which they are tried. */
  readonly ways: readonly Way[];
  /** Returns the integers of all rows. */
  round(way: Way): Promise<readonly Int32Array[]>;
}

export const ROUNDING_METHODS: Readonly<Record<RoundingMethod, Rounding>> = {
  gptq: {
    keeps: 'best',
    few: 'products',
    open: async (layer, { damping }) => ({ ways: listWays(layer, damping), round: async way => roundRows(layer, way) }),
  },
  adaround: { keeps: 'first', few: 'inputs', open: openAdaptive },
};

export type RoundingMethod = 'gptq' | 'adaround';

/** With few samples a fit needs more damping, or harms. */
function listWays({ sums: { targets } }: LayerRows, damping: number): readonly Way[] {
  const plain = { fitted: false, damping };
  return targets === undefined ? [plain] : [{ fitted: true, damping }, { fitted: true, damping: Math.min(1, 10 * damping) }, plain];
}

/** Each row by GPTQ. */
function roundRows({ rows, sums: { groups, targets } }: LayerRows, { fitted, damping }: Way): readonly Int32Array[] {
  const perGroup = rows.length / groups.length;
  return groups.flatMap((sum, group) => {
    const factor = invertFactor(sum, damping);
    return rows.slice(group * perGroup, (group + 1) * perGroup).map(({ weights, grid }, index) => {
      const target = fitted ? targets?.[group * perGroup + index] : undefined;
      const change = target === undefined ? undefined : fitTarget(weights, target, sum, factor);
      return roundSequentially(
        change === undefined ? weights : Float64Array.from(weights, (w, i) => w + (change[i] as number)),
        grid,
        factor,
      );
    });
  });
}

/** AdaRound. A fit that does not lower the error on judging positions, before anything is rounded, comes last. */
async function openAdaptive(layer: LayerRows, { damping, iterations }: RoundingSettings): Promise<OpenRounding> {
  const { rows, sums } = layer;
  const columns = sums.groups[0]?.size ?? 0;
  const weights = new Float32Array(rows.length * columns);
  for (const [row, { weights: own }] of rows.entries()) weights.set(own, row * columns);
  const dampBy = (share: number): readonly DampedProducts[] => sums.groups.map(sum => dampProducts(sum, share));
  const fitBy = async ({ fitted, damping: share }: Way): Promise<FittedRows | undefined> =>
    fitted && sums.targets !== undefined ? fitLayer({ weights, targets: sums.targets, products: dampBy(share) }) : undefined;
  const { judged } = sums;
  const plain = judged === undefined ? Number.POSITIVE_INFINITY : await judgeRows(weights, judged);
  const ways = listWays(layer, damping);
  const harmful: Way[] = [];
  // It is kept until it is rounded; the others are fitted again when their turn comes.
  let first: { readonly way: Way; readonly fit: FittedRows | undefined } | undefined;
  for (const way of ways) {
    const fit = await fitBy(way);
    if (fit === undefined || judged === undefined || (await judgeRows(fit.wanted, judged)) < plain) {
      first = { way, fit };
      break;
    }
    harmful.push(way);
  }
  return {
    ways: [...ways.filter(way => !harmful.includes(way)), ...harmful],
    async round(way) {
      const fit = way === first?.way ? first.fit : await fitBy(way);
      first = undefined;
      const slice = (all: Float32Array, row: number): Float32Array => all.subarray(row * columns, (row + 1) * columns);
      const fitted = rows.map(({ weights: own, grid }, row) => ({
        weights: fit === undefined ? own : slice(fit.wanted, row),
        rest: fit === undefined ? undefined : slice(fit.rest, row),
        grid,
      }));
      return roundAdaptively({ rows: fitted, products: dampBy(way.damping) }, iterations);
    },
  };
}
