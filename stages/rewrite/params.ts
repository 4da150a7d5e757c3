/** The params of `rewrite`. */

import type { Edit } from '../../src/onnx/rewrite/edits.js';
import type { Matches } from '../../src/onnx/rewrite/matches.js';
import type { NodeSelector } from '../../src/onnx/selection/node-selector.js';

export interface RewriteParams {
  readonly rules: readonly RuleParams[];
  readonly edits: readonly Edit[];
  /** Number of images for measuring the price, the first by id. */
  readonly samples: number;
}

export interface RuleParams {
  readonly name: string;
  readonly form?: string;
  readonly select?: NodeSelector;
  readonly matches?: Matches;
}
