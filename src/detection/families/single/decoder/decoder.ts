/** Settings of all kinds of decoders, which turn the outputs of a network into boxes, scores and classes. */
import type { JsonObject } from '../../../../base/json.js';
import { anyOf, constant } from '../../../../base/schema/build-schema.js';
import { completeSchema } from '../../../../base/schema/complete-schema.js';
import type { FromSchema } from '../../../../base/schema/from-schema.js';
import { DECODER_FORMS, RECIPE_FORMS } from './decoder-forms.js';

type FormSchema = JsonObject & { readonly required: readonly string[]; readonly properties: JsonObject };

/** The form in a recipe: with its kind, and with every default filled in. */
function inRecipe<const Kind extends string, const Form extends FormSchema>(kind: Kind, form: Form) {
  const { required, properties }: { readonly required: Form['required']; readonly properties: Form['properties'] } = form;
  return completeSchema({
    type: 'object',
    additionalProperties: false,
    required: ['kind', ...required],
    properties: { kind: constant(kind), ...properties },
  } as const);
}

const GRID = inRecipe('grid', DECODER_FORMS.grid);

/**
 * One output with a row of channels per candidate: box, objectness, classes (YOLO and similar networks).
 * Dims are [1, rows, channels], [1, channels, rows] or, for one stride, [1, channels, height, width], distinguished by the number of channels.
 * `classes` is the channel of the first class; score = objectness^power · class^power. Values below 0 count as 0.
 */
export type GridDecoder = FromSchema<typeof GRID>;

export type ScoreChannel = GridDecoder['classes'];

/** Activation of a score channel: 'none' for probabilities, 'sigmoid' for logits. */
export type Activation = ScoreChannel['activation'];

const DISTANCES = inRecipe('distances', DECODER_FORMS.distances);

/** Per level a map of scores and one of distances from each cell's center to the four sides (FCOS, GFL, PicoDet). Rows: [1, cells, channels]. */
export type DistancesDecoder = FromSchema<typeof DISTANCES>;

const PRIORS = inRecipe('priors', RECIPE_FORMS.priors);

/** Offsets to prior boxes (SSD): center = c + v₀ · d · size, size = prior · e^(v₁ · d). */
export type PriorsDecoder = FromSchema<typeof PRIORS>;

/** Per cell, row by row, one prior per size. */
export type PriorLevel = PriorsDecoder['levels'][number];

const BOXES = inRecipe('boxes', DECODER_FORMS.boxes);

/** Boxes decoded by the network, and scores. */
export type BoxesDecoder = FromSchema<typeof BOXES>;

const DETECTIONS = inRecipe('detections', DECODER_FORMS.detections);

/** Detections selected by the network, including suppression. */
export type DetectionsDecoder = FromSchema<typeof DETECTIONS>;

const ANCHORS = inRecipe('anchors', DECODER_FORMS.anchors);

/** Raw maps of anchors (YOLO v3 to v5, v7): objectness and classes before the sigmoid. */
export type AnchorsDecoder = FromSchema<typeof ANCHORS>;

const JOINED = inRecipe('joined', DECODER_FORMS.joined);

/** One output with scores, then distances to four sides, for the cells of all strides (NanoDet). */
export type JoinedDecoder = FromSchema<typeof JOINED>;

const SELECTED = inRecipe('selected', DECODER_FORMS.selected);

/** One output with a row per object that the network selected (YOLOv10). */
export type SelectedDecoder = FromSchema<typeof SELECTED>;

const HEATMAP = inRecipe('heatmap', DECODER_FORMS.heatmap);

/** A map of centers per class (CenterNet): a cell is an object if no neighbor among 3 × 3 has a higher score. */
export type HeatmapDecoder = FromSchema<typeof HEATMAP>;

const OFFSETS = inRecipe('offsets', DECODER_FORMS.offsets);

/** Per level a map of scores and one of offsets to anchors (RetinaNet). */
export type OffsetsDecoder = FromSchema<typeof OFFSETS>;

const MODULE = inRecipe('module', RECIPE_FORMS.module);

/** A user-defined module, whose text is in the recipe. `options` are those of the pipeline file. */
export type ModuleDecoder = FromSchema<typeof MODULE>;

/** A new kind adds a form here, and a case in decode.ts. */
export const DECODER_SCHEMA = anyOf([GRID, DISTANCES, PRIORS, BOXES, DETECTIONS, ANCHORS, JOINED, SELECTED, HEATMAP, OFFSETS, MODULE]);

export type Decoder = FromSchema<typeof DECODER_SCHEMA>;
