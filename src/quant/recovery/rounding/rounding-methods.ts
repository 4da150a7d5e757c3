/** The methods that decide whether the weights of a layer are rounded up or down. */
import { dampProducts } from './damped-products.js';
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

/** Returns the integers of all rows. */
type RoundRows = (layer: LayerRows, way: Way, iterations: number) => Promise<readonly Int32Array[]>;

export interface Rounding {
  readonly round: RoundRows;
  /** Which of several ways is kept: the best, or the first that lowers the error, where one takes long. */
  readonly keeps: 'best' | 'first';
  /** Whether it takes few inputs in place of their products. */
  readonly few: 'products' | 'inputs';
}

export const ROUNDING_METHODS: Readonly<Record<RoundingMethod, Rounding>> = {
  gptq: {
    keeps: 'best',
    few: 'products',
    async round({ rows, sums: { groups, targets } }, { fitted, damping }) {
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
    },
  },
  adaround: {
    keeps: 'first',
    few: 'inputs',
    async round({ rows, sums }, { fitted, damping }, iterations) {
      const { targets } = sums;
      const perGroup = rows.length / sums.groups.length;
      const groups = sums.groups.map((sum, group) => ({
        products: dampProducts(sum, damping),
        rows: rows
          .slice(group * perGroup, (group + 1) * perGroup)
          .map((row, index) => ({ ...row, target: fitted ? targets?.[group * perGroup + index] : undefined })),
      }));
      return roundAdaptively(groups, iterations);
    },
  },
};

export type RoundingMethod = 'gptq' | 'adaround';
