/** How do the outputs of one network become boxes, scores and classes? The forms that decoders have, as data: a recipe names one, with its settings. */
import type { Json } from '../../../../base/json.js';

/** A new form adds a member here, its reader beside it, and a case in `decode`. */
export type Decoder = GridDecoder | DistancesDecoder | PriorsDecoder | BoxesDecoder | DetectionsDecoder | ModuleDecoder;

/** What a channel of scores holds: probabilities already, or what a sigmoid makes them of. */
export type Activation = 'none' | 'sigmoid';

/**
 * One output with a row of channels per candidate: box, objectness, classes (YOLO and its kin).
 * Its dims: [1, rows, channels], [1, channels, rows] or, for one stride, [1, channels, height, width]; told apart by the number of channels.
 */
export interface GridDecoder {
  readonly kind: 'grid';
  readonly output: string;
  /**
   * 'exp': centre = (xy + cell) · stride, size = e^wh · stride. 'bounded': centre = (cell + tanh(xy)) · stride, size = sigmoid(wh) of the input.
   * 'center' and 'corners': cx cy w h, or x1 y1 x2 y2, in pixels of the input already.
   */
  readonly boxes: { readonly channel: number; readonly form: 'exp' | 'bounded' | 'center' | 'corners' };
  /** Of the cells, whose rows follow one another, each map row by row. Needed by 'exp' and 'bounded'. */
  readonly strides: readonly number[];
  /** score = objectness^power · class^power. One below 0, which no probability is, has no fractional power, and gives no candidate. */
  readonly objectness?: ScoreChannel;
  /** The channel of the first class. */
  readonly classes: ScoreChannel;
}

export interface ScoreChannel {
  readonly channel: number;
  readonly power: number;
  readonly activation: Activation;
}

/** Per level a map of scores and one of distances from each cell's centre to the four sides (FCOS, GFL, PicoDet). Rows: [1, cells, channels]. */
export interface DistancesDecoder {
  readonly kind: 'distances';
  readonly levels: readonly { readonly stride: number; readonly scores: string; readonly distances: string }[];
  /** Of each side's distribution, whose expected bin · stride is the distance; 1: the distance itself, in strides. */
  readonly bins: number;
  readonly activation: Activation;
}

/** Offsets to prior boxes (SSD): centre = c + v₀ · d · size, size = prior · e^(v₁ · d). */
export interface PriorsDecoder {
  readonly kind: 'priors';
  /** [1, priors, classes], a background class first where `background` says so. */
  readonly scores: string;
  /** [1, priors, 4]: dx dy dw dh. */
  readonly boxes: string;
  readonly activation: Activation | 'softmax';
  readonly background: boolean;
  readonly variances: readonly number[];
  /** In their order; per cell one prior per size, cells row by row. */
  readonly levels: readonly PriorLevel[];
}

export interface PriorLevel {
  readonly columns: number;
  readonly rows: number;
  /** Width and height in pixels of the input. */
  readonly sizes: readonly (readonly number[])[];
}

/** Boxes that the network has decoded itself, beside scores. */
export interface BoxesDecoder {
  readonly kind: 'boxes';
  readonly scores: string;
  readonly boxes: string;
  readonly form: 'corners' | 'center';
  readonly unit: 'pixels' | 'fractions';
  readonly activation: Activation | 'softmax';
  readonly background: boolean;
}

/** Detections that the network has selected itself, suppression included. */
export interface DetectionsDecoder {
  readonly kind: 'detections';
  /** [objects] */
  readonly scores: string;
  /** [objects, 4]: x1 y1 x2 y2 in pixels of the input. */
  readonly boxes: string;
  /** [objects]: the class, counted from `firstClass`. */
  readonly classes: string;
  readonly firstClass: number;
  /** 'inclusive': x2 and y2 are the last pixels, and a width is x2 − x1 + 1. */
  readonly corners: 'exclusive' | 'inclusive';
  /** [objects, classes, side, side]: probabilities over the box, of which the object's own class counts, numbered as in `classes`. */
  readonly masks?: { readonly output: string; readonly threshold: number };
}

/** A module of the user's own; its text is in the recipe. */
export interface ModuleDecoder {
  readonly kind: 'module';
  /** For messages. */
  readonly name: string;
  readonly source: string;
  /** The outputs that it is given. */
  readonly outputs: readonly string[];
  /** What the pipeline file says to it. */
  readonly options: Json;
}
