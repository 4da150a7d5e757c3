/** The devices of models, as the param `place` declares them. */
import { findClosest } from '../../src/base/text/did-you-mean.js';
import type { DetectorDefinition } from '../../src/detection/detector/detector-family.js';
import { listModelsOnTiles, listPartModels, type TilesByPart } from '../../src/detection/tiles/part-tiles.js';
import { withoutTiles } from '../../src/detection/without-tiles.js';
import { StageError } from '../../src/stage/stage-error.js';
import type { Device } from '../../src/target/report/compile-report.js';

/** Part, or model → device; others run on the NPU. */
export type Places = Readonly<Record<string, Device>>;

export interface Placed<M> {
  readonly models: readonly M[];
  readonly detector: DetectorDefinition | undefined;
  /** Models on tiles of parts that run on the CPU, where one call takes any number of RoIs. */
  readonly leftOut: readonly M[];
  deviceOf(name: string): Device;
}

/** @throws StageError `unknown-model`. */
export function placeModels<M extends { readonly name: string }>(
  place: Places,
  models: readonly M[],
  detector: DetectorDefinition | undefined,
): Placed<M> {
  const tiles = detector?.tiles ?? {};
  checkNames(
    place,
    models.map(({ name }) => name),
    tiles,
  );
  const onCpu = new Set(Object.keys(place).filter(name => place[name] === 'cpu'));
  const unused = new Set(Object.keys(tiles).flatMap(part => (onCpu.has(part) ? listPartModels(part, tiles) : [])));
  return {
    models: models.filter(({ name }) => !unused.has(name)),
    detector: detector === undefined ? undefined : withoutTiles(detector, onCpu),
    leftOut: models.filter(({ name }) => unused.has(name)),
    deviceOf: name => (onCpu.has(name) ? 'cpu' : 'npu'),
  };
}

/** A model on tiles is placed by the name of its part, which needs its model without tiles only on the CPU. */
function checkNames(place: Places, connected: readonly string[], tiles: TilesByPart): void {
  const onTiles = listModelsOnTiles(tiles);
  const untiled = connected.filter(name => !onTiles.has(name));
  const known = [...new Set([...untiled, ...Object.keys(tiles)])];
  for (const [name, device] of Object.entries(place)) {
    const part = onTiles.get(name)?.part;
    if (part !== undefined && !known.includes(name)) {
      throw new StageError('unknown-model', `\`place\` names "${name}", a model on tiles`, {
        help: `place its part: {${part}: ${device}}`,
      });
    }
    if (!known.includes(name)) throw unknownModel(name, known);
    if (device === 'cpu' && !untiled.includes(name)) throw untiledMissing(name, listPartModels(name, tiles));
  }
}

function untiledMissing(part: string, models: readonly string[]): StageError {
  return new StageError('unknown-model', `\`place\` runs ${part} on the CPU, without tiles, but its model without tiles is not connected`, {
    help: `connect the model that \`tile-rois\` has as \`models.${part}\` to \`models.${part}\`, beside ${models.join(' and ')}`,
  });
}

function unknownModel(name: string, names: readonly string[]): StageError {
  const closest = findClosest(name, names);
  return new StageError('unknown-model', `\`place\` names "${name}", which is not a model`, {
    help: `choose one of ${names.join(', ')}${closest === undefined ? '' : `; did you mean "${closest}"?`}`,
  });
}
