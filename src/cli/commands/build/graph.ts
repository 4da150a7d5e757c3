/** `tanren graph`: prints the DAG as text, Mermaid or DOT. */
import { assertNever } from '../../../base/assert-never.js';
import { dependenciesOf, selectStages } from '../../../engine/model/dependencies.js';
import type { Plan, PlannedStage, StageId } from '../../../engine/model/plan.js';
import { openPlan, type PipelineOptions } from '../../pipeline/open-plan.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { makeConsole } from '../../terminal/console.js';
import { padEnd, widest } from '../../terminal/display-width.js';

export type GraphFormat = 'text' | 'mermaid' | 'dot';

export async function runGraph(
  targets: readonly string[],
  options: PipelineOptions & { readonly format: GraphFormat; readonly json: boolean },
): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  const opened = await openPlan(options, targets, console);
  if (opened === undefined) return EXIT.usage;
  const stages = selectStages(opened.plan, opened.targets);
  if (options.json) console.json({ stages: stages.map(describeStage) });
  else console.line(formatGraph(opened.plan, stages, options.format));
  return EXIT.built;
}

function describeStage(stage: PlannedStage): unknown {
  return {
    stage: stage.id,
    uses: stage.plugin.name,
    dependsOn: dependenciesOf(stage),
    inputs: Object.keys(stage.inputs),
    outputs: Object.keys(stage.outputPorts),
  };
}

export function formatGraph(plan: Plan, stages: readonly PlannedStage[], format: GraphFormat): string {
  switch (format) {
    case 'text':
      return formatText(stages);
    case 'mermaid':
      return [
        'graph LR',
        ...stages.map(stage => `  ${mermaidId(stage.id)}["${stage.id}<br/>${stage.plugin.name}"]`),
        ...edges(stages).map(([from, to]) => `  ${mermaidId(from)} --> ${mermaidId(to)}`),
      ].join('\n');
    case 'dot':
      return [
        `digraph ${JSON.stringify(plan.pipeline)} {`,
        '  rankdir=LR;',
        ...stages.map(stage => `  ${JSON.stringify(stage.id)} [label=${JSON.stringify(`${stage.id}\n${stage.plugin.name}`)}];`),
        ...edges(stages).map(([from, to]) => `  ${JSON.stringify(from)} -> ${JSON.stringify(to)};`),
        '}',
      ].join('\n');
    default:
      return assertNever(format);
  }
}

/** One line per stage in build order: the plugin that it uses and the stages that it reads from. */
function formatText(stages: readonly PlannedStage[]): string {
  const width = widest(stages.map(stage => stage.id));
  const pluginWidth = widest(stages.map(stage => stage.plugin.name));
  return stages
    .map(stage =>
      `${padEnd(stage.id, width)}  ${padEnd(stage.plugin.name, pluginWidth)}  ${dependenciesOf(stage)
        .map(id => `← ${id}`)
        .join(' ')}`.trimEnd(),
    )
    .join('\n');
}

function edges(stages: readonly PlannedStage[]): readonly (readonly [StageId, StageId])[] {
  return stages.flatMap(stage => dependenciesOf(stage).map(from => [from, stage.id] as const));
}

/** Mermaid allows letters, digits and "_". Other characters are replaced by their code, so that all ids stay distinct. */
function mermaidId(id: StageId): string {
  return id.replace(/[^A-Za-z0-9]/g, char => `_${char.charCodeAt(0).toString(16)}_`);
}
