/** Report section on partitions: parts on the NPU, refused units with their reasons, and possible remedies. */
import { formatBytes } from '../../../src/base/text/format.js';
import { variable } from '../../../src/report/colors.js';
import { drawBadge, type Section } from '../../../src/report/document.js';
import { drawGraph } from '../../../src/report/graph.js';
import { type Html, type HtmlValue, html } from '../../../src/report/html.js';
import { formatCount, formatShare } from '../../../src/report/numbers.js';
import { drawTable, number, text } from '../../../src/report/table.js';
import type { Named } from '../entries.js';
import type { CompiledModel, CompileView, FindingView, UnitView } from '../readers/read-compile.js';

export async function drawPartition(reports: readonly Named<CompileView>[]): Promise<Section | undefined> {
  if (reports.length === 0) return undefined;
  const drawn: Html[] = [];
  for (const [index, { name, value }] of reports.entries())
    drawn.push(await drawReport(reports.length > 1 ? name : undefined, value, index));
  return {
    id: 'partition',
    title: 'Partition',
    body: html`<p>Every unit (an operator with the Q and DQ around it) on the NPU or the CPU, in the order of the graph. Nothing here is measured; it follows from the documented limits of the target.</p>
${drawn}`,
  };
}

async function drawReport(name: string | undefined, { target, models }: CompileView, index: number): Promise<Html> {
  const graphs: Html[] = [];
  for (const [number_, model] of models.entries()) graphs.push(await drawModel(model, `${index}-${number_}`));
  return html`<p>${name === undefined ? '' : `${name}: `}${target.title}, ${target.device}, ${target.dtype}${target.version === '' ? '' : `, software ${target.version}`}.</p>
${drawTable({
  caption: 'Nodes by device. Edge: Q and DQ at the inputs and outputs of a model, which the host computes.',
  columns: [
    text('Model'),
    number('Nodes'),
    number('NPU', 'Nodes that run on the NPU'),
    number('CPU', 'Nodes that fall back to the CPU'),
    number('Edge', 'Q and DQ at the ends of parts, which run on the host'),
    number('Parts', 'Stretches of the model that run on one device without a break'),
    number('MACs'),
    number('MACs on the NPU'),
  ],
  rows: models.map(({ name: model, counts }) => [
    model,
    ...[counts.nodes, counts.npuNodes, counts.cpuNodes, counts.edgeNodes].map(formatCount),
    `${counts.parts} (${counts.npuParts} NPU)`,
    formatCount(counts.macs),
    formatShare(counts.npuMacShare),
  ]),
})}${graphs}`;
}

async function drawModel(model: CompiledModel, id: string): Promise<Html> {
  const { name, units, parts, findings } = model;
  const graph =
    parts.length < 2
      ? undefined
      : await drawGraph({
          id: `parts-${id}`,
          description: `The ${parts.length} parts of ${name} in the order of their data.`,
          nodes: parts.map(part => ({
            id: String(part.index),
            title: part.name,
            lines: [
              `${part.device === 'npu' ? 'NPU' : 'CPU'} · ${formatCount(part.nodes)} nodes`,
              `moves ${formatBytes(part.transferBytes)}`,
            ],
            look: part.device,
          })),
          edges: parts.flatMap(part => part.dependsOn.map(from => ({ from: String(from), to: String(part.index) }))),
          direction: 'right',
        });
  return html`<h3>${name} ${model.legal ? drawBadge('good', 'all units legal') : drawBadge('warn', countIllegal(units))}</h3>
<figure class="figure"><figcaption>${drawLegend()}${describeStrip(model)}</figcaption>${drawStrip(name, units, id)}${graph}</figure>
${drawFindings(
  `What concerns ${name} as a whole.`,
  findings.map(finding => ({ finding, units: [], measured: finding.measured === '' ? [] : [finding.measured] })),
)}
${drawReasons(model)}`;
}

function countIllegal(units: readonly UnitView[]): string {
  const illegal = units.filter(({ findings }) => findings.some(isReason)).length;
  return illegal === 0 ? 'not legal as a whole' : `${illegal} ${illegal === 1 ? 'unit' : 'units'} not legal`;
}

function isReason({ severity }: FindingView): boolean {
  return severity !== 'warning';
}

function describeStrip({ counts, units }: CompiledModel): string {
  const edge = units.filter(unit => unit.edge).length;
  return `${counts.npuUnits} of ${counts.units} units on the NPU, ${counts.cpuUnits} on the CPU${edge === 0 ? '' : `, ${edge} Q or DQ at an end`}; ${counts.parts} ${counts.parts === 1 ? 'part' : 'parts'}.`;
}

function drawLegend(): Html {
  const swatch = (look: Look, words: string): Html =>
    html`<li><svg aria-hidden="true" viewBox="0 0 22 12">${drawUnit(look, 0, 22, 12)}</svg>${words}</li>`;
  return html`<ul class="legend">${swatch('npu', 'NPU (full height)')}${swatch('cpu', 'CPU (lower half)')}${swatch('edge', 'Q or DQ at an end (thin)')}</ul>`;
}

type Look = 'npu' | 'cpu' | 'edge';

/** The height repeats the meaning of the color, for readers who cannot distinguish colors. */
function drawUnit(look: Look, x: number, width: number, height: number): Html {
  const [color, share] = look === 'npu' ? (['green', 1] as const) : look === 'cpu' ? (['orange', 0.5] as const) : (['soft', 0.2] as const);
  return html`<rect x="${round(x)}" y="${round(height * (1 - share))}" width="${round(width)}" height="${round(height * share)}" fill="${variable(color)}"/>`;
}

function lookOf({ device, edge }: UnitView): Look {
  return edge ? 'edge' : device;
}

const [STRIP_WIDTH, STRIP_HEIGHT] = [1000, 34];

/** Units as equal columns; neighbors of one part and one look are drawn as one. */
function drawStrip(name: string, units: readonly UnitView[], id: string): Html {
  const step = STRIP_WIDTH / Math.max(1, units.length);
  const runs: { from: number; to: number; look: Look; part: number }[] = [];
  for (const [index, unit] of units.entries()) {
    const last = runs.at(-1);
    const look = lookOf(unit);
    if (last !== undefined && last.look === look && last.part === unit.part) last.to = index + 1;
    else runs.push({ from: index, to: index + 1, look, part: unit.part });
  }
  const gap = step > 3 ? 0.8 : 0;
  return html`<svg class="strips" id="strip-${id}" viewBox="0 0 ${STRIP_WIDTH} ${STRIP_HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${`Units of ${name}: ${runs
    .map(run => `${run.to - run.from} ${run.look}`)
    .slice(0, 40)
    .join(', ')}`}">${runs.map(({ from, to, look }) => drawUnit(look, from * step, (to - from) * step - gap, STRIP_HEIGHT))}</svg>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

interface Reason {
  readonly finding: FindingView;
  readonly units: readonly UnitView[];
  /** What they have, each once. */
  readonly measured: readonly string[];
}

/** Findings of one rule about one operator are one line. */
function groupReasons(units: readonly UnitView[]): readonly Reason[] {
  const groups = new Map<string, { finding: FindingView; units: UnitView[]; measured: string[] }>();
  for (const unit of units) {
    for (const finding of unit.findings) {
      const key = JSON.stringify([finding.rule, finding.severity, unit.opType, finding.limit]);
      const group = groups.get(key) ?? { finding, units: [], measured: [] };
      group.units.push(unit);
      if (finding.measured !== '' && !group.measured.includes(finding.measured)) group.measured.push(finding.measured);
      groups.set(key, group);
    }
  }
  return [...groups.values()];
}

function drawReasons({ name, units }: CompiledModel): HtmlValue {
  const demoted = units.filter(unit => unit.demoted !== undefined);
  return html`${drawFindings(`Findings on units of ${name}: why they are not on the NPU, or why they need attention there.`, groupReasons(units))}${
    demoted.length === 0
      ? undefined
      : html`<details class="plain"><summary>${demoted.length} legal units of ${name} stay on the CPU</summary>${drawTable({
          caption: 'Legal units that the partition assigns to the CPU.',
          columns: [text('Unit'), text('Operator'), text('Reason')],
          rows: demoted.map(unit => [html`<code>${unit.name}</code>`, unit.opType, unit.demoted]),
        })}</details>`
  }`;
}

const SEVERITIES = {
  error: 'bad',
  refused: 'bad',
  undocumented: 'warn',
  warning: 'mute',
} as const;

/** Units named in a line before "and so many more". */
const MOST_NAMES = 4;

function drawFindings(caption: string, reasons: readonly Reason[]): HtmlValue {
  if (reasons.length === 0) return undefined;
  return drawTable({
    caption,
    columns: [text('Rule'), text('Units'), text('Found'), text('Limit'), text('What to do')],
    rows: reasons.map(({ finding, units, measured }) => [
      html`${drawBadge(SEVERITIES[finding.severity], finding.severity)}<br><code>${finding.rule}</code>`,
      nameUnits(units),
      html`${measured.length === 0 ? finding.message : nameSome(measured.map(one => html`<div>${one}</div>`))}${
        finding.note === undefined ? undefined : html`<div class="mute">${finding.note}</div>`
      }`,
      html`${finding.limit}<br><span class="mute">${finding.source.title}</span>`,
      finding.fixIts.length === 0
        ? '–'
        : finding.fixIts.map(
            fix =>
              html`<div><code>rewrite: ${fix.rule}${fix.form === undefined ? '' : ` (${fix.form})`}</code> ${fix.effect}. ${fix.note}</div>`,
          ),
    ]),
  });
}

function nameUnits(units: readonly UnitView[]): HtmlValue {
  if (units.length === 0) return 'the model';
  return nameSome(units.map(({ opType, name }) => html`<div>${opType} <code>${name}</code></div>`));
}

function nameSome(things: readonly Html[]): Html {
  const more = things.length - MOST_NAMES;
  return html`${things.slice(0, MOST_NAMES)}${more > 0 ? html`<div class="mute">and ${formatCount(more)} more</div>` : undefined}`;
}
