/** The field `tiles` of a host recipe: how the host packs the RoIs of a part into canvases, runs them, and unpacks the results. */
import type { JsonReader } from '../../base/json/json-shape.js';
import { integer, list, listOf, mapOf, object, text } from '../../base/schema/build-schema.js';
import { type FromSchema, schemaOf } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import type { Pair } from '../../onnx/tiles/tile-facts.js';

const pairOf = (description: string) => schemaOf<Pair<number>>(listOf(2, integer(1), description));

const CANVAS_SCHEMA = object({
  name: text('Name of the input or output.'),
  channels: integer(1, 'Channels of the canvas.'),
  tile: pairOf('Height and width of a tile.'),
  pitch: pairOf('Rows and columns from one tile to the next.'),
});

const canvases = (description: string) => list(CANVAS_SCHEMA, description);

const STEP_SCHEMA = object(
  {
    model: text('Name of the model, among the models of the detector.'),
    grid: pairOf('Rows of tiles, and tiles in a row. A call serves that many RoIs; unused tiles are zeros and are not read.'),
    inputs: canvases('Inputs of the part, or outputs of the step before.'),
    outputs: canvases('Outputs of the part, or inputs of the step after.'),
  },
  { masks: canvases('Inputs that are one inside the tiles and zero between them.') },
);

const PART_TILES_SCHEMA = object({
  steps: list(STEP_SCHEMA, 'Run in this order for all RoIs. A part that is cut at its Flatten has two.'),
});

const TILES_SCHEMA = mapOf(PART_TILES_SCHEMA, { description: 'By part. Other parts run without tiles.' });

/** Calls of one model on canvases. */
export type TileStep = FromSchema<typeof STEP_SCHEMA>;

export type PartTiles = FromSchema<typeof PART_TILES_SCHEMA>;

export type TilesByPart = FromSchema<typeof TILES_SCHEMA>;

export const tilesReader: JsonReader<TilesByPart> = readerOf(TILES_SCHEMA);

export interface ModelOnTiles {
  readonly part: string;
  /** RoIs that a call serves. */
  readonly tiles: number;
}

/** The models of all steps, by name. */
export function listModelsOnTiles(tiles: TilesByPart): ReadonlyMap<string, ModelOnTiles> {
  return new Map(
    Object.entries(tiles).flatMap(([part, { steps }]) =>
      steps.map(({ model, grid }) => [model, { part, tiles: grid[0] * grid[1] }] as const),
    ),
  );
}

/** The models that a part runs: those of its steps, or the one with its name. */
export function listPartModels(part: string, tiles: TilesByPart): readonly string[] {
  return Object.hasOwn(tiles, part) ? (tiles[part]?.steps.map(({ model }) => model) ?? []) : [part];
}
