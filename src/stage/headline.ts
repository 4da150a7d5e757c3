/** The figures of a stage's metrics that the end of a build shows. */

/** A figure in the words of a reader. */
export interface Headline {
  /** Path in the metrics: "bbox.AP". */
  readonly metric: string;
  /** The name that is printed: "box AP". Figures of equal names in several stages of a plugin are printed side by side. */
  readonly label: string;
  /** 'share': printed as a percentage. 'ms': milliseconds. */
  readonly unit?: 'share' | 'ms';
}
