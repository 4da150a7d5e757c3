/** `place: auto`: each part on the device where an image takes less time, as measured, else as estimated. */
import { getDefined } from '../../src/base/invariant.js';
import type { DetectorDefinition } from '../../src/detection/detector/detector-family.js';
import { listModelsOnTiles, listPartModels } from '../../src/detection/tiles/part-tiles.js';
import { modeOf } from '../../src/target/legality/judge-units.js';
import type { Device, LatencyEstimate, ModelReport, PlacementReport } from '../../src/target/report/compile-report.js';
import type { GivenModel } from './given-model.js';
import type { FindTime } from './measured-times.js';

export interface ChoiceOfPlaces {
  readonly models: readonly GivenModel[];
  readonly detector: DetectorDefinition | undefined;
  readonly findTime: FindTime;
  /** Compiles a model for a device. */
  readonly compile: (model: GivenModel, device: Device) => Promise<ModelReport>;
}

/** One row per part, in the order of the models. A float model can only run on the CPU, and equal times choose the NPU. */
export async function choosePlaces({ models, detector, findTime, compile }: ChoiceOfPlaces): Promise<readonly PlacementReport[]> {
  const tiles = detector?.tiles ?? {};
  const onTiles = listModelsOnTiles(tiles);
  const byName = new Map(models.map(model => [model.name, model]));
  const rows: PlacementReport[] = [];
  for (const part of models) {
    if (onTiles.has(part.name)) continue;
    const form = modeOf(part.model) === 'float' ? 'float' : 'int8';
    const cpu = await compile(part, 'cpu');
    const onNpu = listPartModels(part.name, tiles).map(name => getDefined(byName.get(name), name));
    if (onNpu.some(({ model }) => modeOf(model) === 'float')) {
      rows.push({ part: part.name, device: 'cpu', basis: 'float', cpuMs: cpu.estimate.image.perImage.ms });
      continue;
    }
    const npu: ModelReport[] = [];
    for (const model of onNpu) npu.push(await compile(model, 'npu'));
    rows.push({ part: part.name, ...compare({ npu, cpu, form, findTime }) });
  }
  return rows;
}

interface Compared {
  readonly npu: readonly ModelReport[];
  readonly cpu: ModelReport;
  readonly form: 'float' | 'int8';
  readonly findTime: FindTime;
}

/** Measured times count only if there are some of both devices. */
function compare({ npu, cpu, form, findTime }: Compared): Omit<PlacementReport, 'part'> {
  const npuTimes = npu.map(({ name, estimate }) => findTime('npu', name, 'int8', estimate.image.calls));
  const cpuTime = findTime('cpu', cpu.name, form, cpu.estimate.image.calls);
  const measured = npuTimes.flatMap(ms => ms ?? []);
  const isMeasured = measured.length === npuTimes.length && cpuTime !== undefined;
  const sum = (times: readonly number[]): number => times.reduce((total, ms) => total + ms, 0);
  const msOf = (estimate: LatencyEstimate): number => estimate.ms;
  const npuMs = isMeasured ? sum(measured) : sum(npu.map(({ estimate }) => msOf(estimate.image.perImage)));
  const cpuMs = isMeasured ? cpuTime : msOf(cpu.estimate.image.perImage);
  return { device: cpuMs < npuMs ? 'cpu' : 'npu', basis: isMeasured ? 'measured' : 'estimate', npuMs, cpuMs };
}

/** Parts on tiles that have no choice: without its model without tiles, a part cannot run on the CPU. */
export function listPartsWithoutChoice(models: readonly GivenModel[], { tiles }: DetectorDefinition): readonly string[] {
  return Object.keys(tiles).filter(part => !models.some(({ name }) => name === part));
}

/** For the log. */
export function describePlace({ part, device, basis, npuMs, cpuMs }: PlacementReport): string {
  if (npuMs === undefined) return `${part} runs on the CPU: its model is not quantized`;
  const times = `${npuMs.toFixed(2)} ms per image on the NPU, ${cpuMs.toFixed(2)} ms on the CPU`;
  return `${part} runs on the ${device.toUpperCase()}: ${times} (${basis === 'measured' ? 'measured' : 'an estimate'})`;
}
