/** Settings of all kinds of decoders, which turn the outputs of a network into boxes, scores and classes. */
import type { Json } from '../../../../base/json.js';

/** A new kind adds a member here, a reader in decoder-reader.ts, and a case in decode.ts. */
export type Decoder = GridDecoder | DistancesDecoder | PriorsDecoder | BoxesDecoder | DetectionsDecoder | ModuleDecoder;

/** Activation of a score channel: 'none' for probabilities, 'sigmoid' for logits. */
export type Activation = 'none' | 'sigmoid';

/**
 * One output with a row of channels per candidate: box, objectness, classes (YOLO and similar networks).
 * Dims are [1, rows, channels], [1, channels, rows] or, for one stride, [1, channels, height, width], distinguished by the number of channels.
 */
export interface GridDecoder {
  readonly kind: 'grid';
  readonly output: string;
  /**
   * 'exp': center = (xy + cell) · stride, size = e^wh · stride. 'bounded': center = (cell + tanh(xy)) · stride, size = sigmoid(wh) · input size.
   * 'center' and 'corners': cx cy w h, or x1 y1 x2 y2, in pixels of the input.
   */
  readonly boxes: { readonly channel: number; readonly form: 'exp' | 'bounded' | 'center' | 'corners' };
  /** Strides of the grids, whose cells follow one another, each grid row by row. Required by 'exp' and 'bounded'. */
  readonly strides: readonly number[];
  /** score = objectness^power · class^power. Values below 0 count as 0. */
  readonly objectness?: ScoreChannel;
  /** The channel of the first class. */
  readonly classes: ScoreChannel;
}

export interface ScoreChannel {
  readonly channel: number;
  readonly power: number;
  readonly activation: Activation;
}

/** Per level a map of scores and one of distances from each cell's center to the four sides (FCOS, GFL, PicoDet). Rows: [1, cells, channels]. */
export interface DistancesDecoder {
  readonly kind: 'distances';
  readonly levels: readonly { readonly stride: number; readonly scores: string; readonly distances: string }[];
  /** Bins of each side's distribution; the distance is the expected bin · stride. 1: the output is the distance in strides. */
  readonly bins: number;
  readonly activation: Activation;
}

/** Offsets to prior boxes (SSD): center = c + v₀ · d · size, size = prior · e^(v₁ · d). */
export interface PriorsDecoder {
  readonly kind: 'priors';
  /** [1, priors, classes], where the first class is background if `background` is set. */
  readonly scores: string;
  /** [1, priors, 4]: dx dy dw dh. */
  readonly boxes: string;
  readonly activation: Activation | 'softmax';
  readonly background: boolean;
  readonly variances: readonly number[];
  /** Levels in their order; per cell, row by row, one prior per size. */
  readonly levels: readonly PriorLevel[];
}

export interface PriorLevel {
  readonly columns: number;
  readonly rows: number;
  /** Width and height in pixels of the input. */
  readonly sizes: readonly (readonly number[])[];
}

/** Boxes decoded by the network, and scores. */
export interface BoxesDecoder {
  readonly kind: 'boxes';
  readonly scores: string;
  readonly boxes: string;
  readonly form: 'corners' | 'center';
  readonly unit: 'pixels' | 'fractions';
  readonly activation: Activation | 'softmax';
  readonly background: boolean;
}

/** Detections selected by the network, including suppression. */
export interface DetectionsDecoder {
  readonly kind: 'detections';
  /** [objects] */
  readonly scores: string;
  /** [objects, 4]: x1 y1 x2 y2 in pixels of the input. */
  readonly boxes: string;
  /** [objects]: the class, counted from `firstClass`. */
  readonly classes: string;
  readonly firstClass: number;
  /** 'inclusive': x2 and y2 are the last pixels, so that the width is x2 − x1 + 1. */
  readonly corners: 'exclusive' | 'inclusive';
  /** [objects, classes, side, side]: probabilities over the box, of which the channel of the object's class is used, numbered as in `classes`. */
  readonly masks?: { readonly output: string; readonly threshold: number };
}

/** A user-defined module, whose text is in the recipe. */
export interface ModuleDecoder {
  readonly kind: 'module';
  /** Name in messages. */
  readonly name: string;
  readonly source: string;
  /** Model outputs passed to the module. */
  readonly outputs: readonly string[];
  /** Options from the pipeline file. */
  readonly options: Json;
}
