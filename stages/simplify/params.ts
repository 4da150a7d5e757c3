/** The params of `simplify`. */
export interface SimplifyParams {
  readonly foldLimitBytes: number;
  readonly skip: readonly string[];
  readonly samples: number;
  readonly tolerance: number;
  readonly freeSize: number;
  readonly sizes: Readonly<Record<string, number>>;
}
