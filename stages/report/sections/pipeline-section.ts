/** Report section on the pipeline: the graph of the stages before the report, with outcomes and times. */
import { formatBytes, formatDuration } from '../../../src/base/text/format.js';
import type { Section } from '../../../src/report/document.js';
import { drawBadge } from '../../../src/report/document.js';
import { drawGraph, type GraphNode } from '../../../src/report/graph.js';
import { type GraphEdge, withoutImplied } from '../../../src/report/graph-edges.js';
import { type Html, html } from '../../../src/report/html.js';
import { drawTable, number, text } from '../../../src/report/table.js';
import type { BuildSummary, SummarizedInput, SummarizedStage } from '../../../src/stage/build-summary.js';

type OutcomeKind = SummarizedStage['outcome'];

/** Sign, word and color of each outcome; each of them is sufficient. */
const OUTCOMES: Readonly<Record<OutcomeKind, { readonly sign: string; readonly words: string; readonly look: 'good' | 'info' | 'warn' }>> =
  {
    executed: { sign: '▶', words: 'executed', look: 'warn' },
    restored: { sign: '↺', words: 'restored', look: 'info' },
    'up-to-date': { sign: '✓', words: 'up to date', look: 'good' },
  };

/** Undefined where the stage has nothing before it. */
export async function drawPipeline({ stages }: BuildSummary): Promise<Section | undefined> {
  if (stages.length === 0) return undefined;
  const groups = groupStages(stages);
  const edges = withoutImplied(findEdges(stages));
  const graph = await drawGraph({
    id: 'pipeline-graph',
    description: `${groups.length} stages and how they follow from each other; the table below has the same in words.`,
    nodes: groups.map(makeNode),
    edges,
    direction: 'down',
  });
  return {
    id: 'pipeline',
    title: 'Pipeline',
    body: html`<p>The stages before this page, with the outcome of each in the build that wrote it, and the duration of the run that made its result, possibly in an earlier build.</p>
<figure class="figure"><figcaption>${drawLegend()} Instances of one stage share a box. An arrow that longer paths imply is left out.</figcaption>${graph}</figure>
<details class="plain"><summary>All ${stages.length} stages with what they read</summary>${drawStages(stages)}</details>
`,
  };
}

/** "3 executed, 2 restored". */
export function countOutcomes(stages: readonly SummarizedStage[]): string {
  return (Object.keys(OUTCOMES) as OutcomeKind[])
    .map(kind => [kind, stages.filter(({ outcome }) => outcome === kind).length] as const)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${OUTCOMES[kind].words}`)
    .join(', ');
}

function drawLegend(): Html {
  return html`${Object.values(OUTCOMES).map(({ sign, words, look }) => html`<span class="${look}">${sign} ${words}</span>  `)}`;
}

function groupStages(stages: readonly SummarizedStage[]): readonly (readonly SummarizedStage[])[] {
  const groups = new Map<string, SummarizedStage[]>();
  for (const stage of stages) groups.set(stage.group, [...(groups.get(stage.group) ?? []), stage]);
  return [...groups.values()];
}

function makeNode(group: readonly SummarizedStage[]): GraphNode {
  const [first] = group;
  const { group: title = '', plugin = '' } = first ?? {};
  const kinds = new Set(group.map(({ outcome }) => outcome));
  // The most that happened to any of them.
  const look = (['executed', 'restored', 'up-to-date'] as const).find(kind => kinds.has(kind)) ?? 'up-to-date';
  const durationMs = group.reduce((sum, stage) => sum + stage.durationMs, 0);
  const words = kinds.size === 1 ? OUTCOMES[look].words : countOutcomes(group);
  const several = group.length > 1 ? ` × ${group.length}` : '';
  return {
    id: title,
    title: `${title}${several}`,
    lines: [...(plugin === title ? [] : [plugin]), `${OUTCOMES[look].sign} ${words} · ${formatDuration(durationMs)}`],
    look,
  };
}

/** Between groups, once each. */
function findEdges(stages: readonly SummarizedStage[]): readonly GraphEdge[] {
  const groupOf = new Map(stages.map(({ stage, group }) => [stage, group]));
  const edges = new Map<string, GraphEdge>();
  for (const { group, reads } of stages) {
    for (const read of reads) {
      const from = read.kind === 'artifact' ? groupOf.get(read.stage) : undefined;
      if (from !== undefined && from !== group) edges.set(JSON.stringify([from, group]), { from, to: group });
    }
  }
  return [...edges.values()];
}

function drawStages(stages: readonly SummarizedStage[]): Html {
  return drawTable({
    caption: 'Stages in topological order. The key is the digest of everything that can change a result.',
    columns: [
      text('Stage'),
      text('Plugin'),
      text('Outcome', 'How the stage ended in the build that wrote the page'),
      number('Run', 'Time of the run that made the result'),
      number('Artifacts'),
      text('Key', 'The beginning of the action key: the digest of everything that the result depends on'),
      text('Reads'),
    ],
    rows: stages.map(({ stage, plugin, outcome, durationMs, outputs, key, reads }) => [
      stage,
      plugin,
      drawBadge(OUTCOMES[outcome].look, OUTCOMES[outcome].words),
      formatDuration(durationMs),
      formatBytes(outputs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)),
      html`<code>${key.slice(0, 12)}</code>`,
      [...new Set(reads.map(nameOf))].join(', '),
    ]),
  });
}

function nameOf(read: SummarizedInput): string {
  return read.kind === 'source' ? `source ${read.source}` : `${read.stage}.${read.output}`;
}
