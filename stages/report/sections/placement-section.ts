/** Report section on placement: the device of each part with its time per image. Measured and estimated times are in separate tables. */
import { drawBadge, type Section } from '../../../src/report/document.js';
import { type Html, html } from '../../../src/report/html.js';
import { drawTable, number, text } from '../../../src/report/table.js';
import { sumEstimates } from '../../../src/target/estimate/estimate.js';
import type { Named } from '../entries.js';
import type { CompiledModel, CompileView } from '../readers/read-compile.js';
import { formatMs } from './latency-section.js';

/** A part with the times that are known of it. */
interface Place {
  readonly part: string;
  readonly device: 'npu' | 'cpu';
  readonly basis: 'measured' | 'estimate' | 'float';
  readonly npuMs?: number;
  readonly cpuMs?: number;
}

/** Nothing where all parts run on the NPU because `place` says nothing. */
export function drawPlacement(reports: readonly Named<CompileView>[]): Section | undefined {
  const drawn = reports.flatMap(({ name, value }) => {
    const places = listPlaces(value);
    return places.length === 0 ? [] : [drawPlaces(reports.length > 1 ? name : undefined, places, value)];
  });
  if (drawn.length === 0) return undefined;
  return { id: 'placement', title: 'Placement', body: html`${drawn}` };
}

function listPlaces({ models, placements }: CompileView): readonly Place[] {
  if (placements !== undefined) return placements;
  if (!models.some(({ place }) => place === 'cpu')) return [];
  const onTiles = new Set(models.flatMap(({ replacedBy = [] }) => replacedBy));
  return models.filter(({ name }) => !onTiles.has(name)).map(model => declaredPlace(model, models));
}

/** A part whose device the pipeline file declares: the estimate of that device only. */
function declaredPlace({ name, place, replacedBy = [name] }: CompiledModel, models: readonly CompiledModel[]): Place {
  const images = models.flatMap(({ name: other, estimate: { image } }) =>
    replacedBy.includes(other) && image !== undefined ? [image] : [],
  );
  const row = { part: name, device: place ?? 'npu', basis: 'estimate' } as const;
  if (images.length < replacedBy.length) return row;
  const { ms } = sumEstimates(images.map(({ perImage }) => perImage));
  return { ...row, ...(place === 'cpu' ? { cpuMs: ms } : { npuMs: ms }) };
}

function drawPlaces(name: string | undefined, places: readonly Place[], { target, models, placements }: CompileView): Html {
  const measured = places.filter(({ basis }) => basis === 'measured');
  const estimated = places.filter(({ basis }) => basis !== 'measured');
  const by = placements === undefined ? 'The pipeline file declares the devices' : 'Each part runs where an image takes less time';
  return html`<p>${name === undefined ? '' : `${name}: `}${by}: on the NPU of ${target.device}, or on the CPU beside it.</p>
${measured.length === 0 ? undefined : html`<h3>Times ${drawBadge('good', 'measured')}</h3>${drawTimes('Measured milliseconds per image, by device.', measured, models)}`}${
  estimated.length === 0
    ? undefined
    : html`<h3>Times ${drawBadge('warn', 'estimate')}</h3>${drawTimes('Estimated milliseconds per image, by device.', estimated, models)}`
}`;
}

function drawTimes(caption: string, places: readonly Place[], models: readonly CompiledModel[]): Html {
  return drawTable({
    caption,
    columns: [text('Part'), text('Runs on'), number('On the NPU (ms)'), number('On the CPU (ms)'), text('')],
    rows: places.map(({ part, device, basis, npuMs, cpuMs }) => [
      part,
      describeDevice(part, device, models),
      formatMs(npuMs),
      formatMs(cpuMs),
      basis === 'float' ? 'its model is not quantized, only the CPU runs it' : '',
    ]),
  });
}

function describeDevice(part: string, device: 'npu' | 'cpu', models: readonly CompiledModel[]): string {
  if (device === 'cpu') return 'CPU';
  const replacedBy = models.find(({ name }) => name === part)?.replacedBy;
  return replacedBy === undefined ? 'NPU' : `NPU, on tiles (${replacedBy.join(', ')})`;
}
