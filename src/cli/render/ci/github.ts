/** Workflow commands of GitHub Actions: annotations at lines of the pipeline file. Output of stages is not interpreted as commands. */
import type { Diagnostic } from '../../../engine/model/diagnostic.js';
import type { SourceSpan } from '../../../engine/model/source-span.js';
import { boundOf, type EndedCommand, missOf, pathOf } from './ended-command.js';
import { failureText } from './failure-text.js';

interface Annotation {
  readonly level: 'error' | 'warning';
  readonly title: string;
  readonly message: string;
  readonly span: SourceSpan | undefined;
}

/** @param folder the root of the repository, which paths of annotations start in. */
export function formatAnnotations(ended: EndedCommand, cwd: string, folder: string): readonly string[] {
  const found = ended.kind === 'refused' ? ended.diagnostics.map(ofDiagnostic) : annotationsOf(ended);
  // GitHub shows the first ten of each level per step.
  return [...found].sort((a, b) => rank(a) - rank(b)).map(one => formatCommand(one, cwd, folder));
}

/** From here to `resumeCommands` the runner interprets no line as a command. @param token cannot be guessed. */
export function stopCommands(token: string): string {
  return `::stop-commands::${token}`;
}

export function resumeCommands(token: string): string {
  return `::${token}::`;
}

function rank({ level }: Annotation): number {
  return level === 'error' ? 0 : 1;
}

function ofDiagnostic({ severity, code, message, span, help }: Diagnostic): Annotation {
  return { level: severity, title: code, message: help === undefined ? message : `${message}\nhelp: ${help}`, span };
}

function annotationsOf({ plan, report, warnings }: Extract<EndedCommand, { kind: 'built' }>): readonly Annotation[] {
  const spanOf = (stage: Parameters<typeof plan.stages.get>[0] | undefined): SourceSpan | undefined =>
    stage === undefined ? undefined : plan.stages.get(stage)?.span;
  return [
    ...[...report.stages.values()].flatMap(({ stage, outcome }): readonly Annotation[] =>
      outcome.kind === 'failed'
        ? [
            {
              level: 'error',
              title: `${stage}: ${outcome.failure.code}`,
              message: failureText(stage, outcome.failure),
              span: spanOf(stage),
            },
          ]
        : [],
    ),
    ...report.gates.flatMap((gate): readonly Annotation[] => {
      const message = [missOf(gate), ...(gate.reasons ?? [])].join('\n');
      return gate.verdict === 'met'
        ? []
        : [{ level: 'error', title: `gate of ${gate.stage}: ${boundOf(gate)}`, message, span: gate.gate.span }];
    }),
    ...report.checks.flatMap((check): readonly Annotation[] => {
      const at = { level: 'error', span: spanOf(check.stage) } as const;
      if (check.verdict === 'different')
        return [
          {
            ...at,
            title: `${check.stage}: non-deterministic`,
            message: `${check.build ?? 'a second run of the same action'} gave different bytes`,
          },
        ];
      return check.verdict === 'failed'
        ? [{ ...at, title: `check of ${check.stage}: ${check.failure.code}`, message: failureText(check.stage, check.failure) }]
        : [];
    }),
    ...warnings.map(
      ({ stage, code, message }): Annotation => ({
        level: 'warning',
        title: stage === undefined ? code : `${stage}: ${code}`,
        message,
        span: spanOf(stage),
      }),
    ),
  ];
}

/** @see https://docs.github.com/actions/reference/workflow-commands-for-github-actions */
function formatCommand({ level, title, message, span }: Annotation, cwd: string, folder: string): string {
  const file = span === undefined ? undefined : pathOf(span, cwd, folder);
  const place =
    span === undefined || file === undefined
      ? []
      : [
          `file=${escapeProperty(file)}`,
          `line=${span.line}`,
          `endLine=${span.endLine}`,
          // Columns are allowed within one line only; the last one is inclusive there.
          ...(span.endLine === span.line ? [`col=${span.column}`, `endColumn=${Math.max(span.column, span.endColumn - 1)}`] : []),
        ];
  return `::${level} ${[...place, `title=${escapeProperty(title)}`].join(',')}::${escapeData(message)}`;
}

/** The escapes of the runner, which turns them back. */
function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
