/** Params of `report`. */
export interface ReportParams {
  readonly title: string;
  /** Names of entries in the order in which tables show them; others follow by name. */
  readonly order: readonly string[];
  /** How many tensors have their histogram drawn. */
  readonly tensors: number;
  readonly overlays: {
    /** How many images. */
    readonly images: number;
    /** differ: those on which the two sides differ most. first: the first by id. */
    readonly choose: 'differ' | 'first';
    /** Detections below are not drawn, and not compared. */
    readonly minScore: number;
    /** How many changes of single objects. */
    readonly changes: number;
    /** Longer side of the embedded images, in pixels. */
    readonly size: number;
  };
}
