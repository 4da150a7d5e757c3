/** The methods that decide whether the weights of a layer are rounded up or down. */
import { openProducts } from './products-session.js';
import { roundAdaptively } from './round-adaptively.js';
import { roundSequentially } from './round-sequentially.js';
import type { WeightRow } from './soft-rows.js';
import { dampProducts, type SquareMatrix } from './triangular-factor.js';

export interface RoundingSettings {
  readonly method: RoundingMethod;
  readonly damping: number;
  /** Steps of `adaround`; 0 for a method without steps. */
  readonly iterations: number;
}

/** Rows of a layer that read the same inputs. */
export interface GroupRows {
  readonly rows: readonly WeightRow[];
  /** Products of the inputs, upper triangle. */
  readonly products: SquareMatrix;
  /** U of `invertFactor`. */
  readonly factor: SquareMatrix;
}

/** Returns the integers of all rows, group by group. */
export type RoundGroups = (groups: readonly GroupRows[], settings: RoundingSettings) => Promise<readonly Int32Array[]>;

export const ROUNDING_METHODS = {
  gptq: async groups => groups.flatMap(({ rows, factor }) => rows.map(({ wanted, grid }) => roundSequentially(wanted, grid, factor))),
  async adaround(groups, { damping, iterations }) {
    const perGroup = groups[0]?.rows.length ?? 0;
    const products = groups.map(group => dampProducts(group.products, damping));
    const session = await openProducts(products, perGroup);
    const rows = groups.flatMap(group => group.rows);
    const productsOf = (row: number): SquareMatrix => products[Math.floor(row / perGroup)] as SquareMatrix;
    try {
      return await roundAdaptively(rows, productsOf, session.multiply, iterations);
    } finally {
      await session.close();
    }
  },
} as const satisfies Readonly<Record<string, RoundGroups>>;

export type RoundingMethod = 'gptq' | 'adaround';
