/** The reports that `build --report` names: opened before the build, written after it. */
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { CodedError } from '../../../base/coded-error.js';
import { encodeDiagnostic } from '../../pipeline/open-plan.js';
import type { ReportOrder } from '../../pipeline/report-orders.js';
import { writeFiles } from '../../process/write-files.js';
import type { Console } from '../../terminal/console.js';
import { encodeBuildReport } from '../build-report.js';
import type { EndedCommand } from './ended-command.js';
import { formatAnnotations, resumeCommands, stopCommands } from './github.js';
import { formatJunit } from './junit.js';
import { formatMarkdown } from './markdown.js';

export interface Reports {
  /** Writes all reports. @throws CodedError `not-writable`, `not-a-file`. */
  write(ended: EndedCommand): Promise<void>;
}

/**
 * Opens the reports of a command. If `github` is among them, what is printed from now on is not taken for workflow commands.
 * @throws CodedError `no-step-summary` if `markdown` names no file, and GITHUB_STEP_SUMMARY is not set.
 */
export function openReports(orders: readonly ReportOrder[], environment: NodeJS.ProcessEnv, console: Console): Reports {
  const summary = environment.GITHUB_STEP_SUMMARY;
  if (orders.some(({ form, path }) => form === 'markdown' && path === undefined) && (summary ?? '') === '') {
    throw new CodedError('no-step-summary', 'markdown names no file, and GITHUB_STEP_SUMMARY is not set', { help: 'write markdown=FILE' });
  }
  const token = orders.some(({ form }) => form === 'github') ? randomUUID() : undefined;
  if (token !== undefined) console.line(stopCommands(token));
  return {
    async write(ended) {
      if (token !== undefined) {
        console.line(resumeCommands(token));
        const cwd = process.cwd();
        for (const line of formatAnnotations(ended, cwd, environment.GITHUB_WORKSPACE ?? cwd)) console.line(line);
      }
      const files = orders.flatMap(({ form, path }) =>
        path === undefined || form === 'github' ? [] : [{ path, text: textOf(form, ended) }],
      );
      await writeFiles(files.map(({ path, text }) => ({ path, write: file => file.writeFile(text) })));
      if (summary !== undefined && orders.some(({ form, path }) => form === 'markdown' && path === undefined))
        appendSummary(summary, formatMarkdown(ended));
    },
  };
}

function textOf(form: Exclude<ReportOrder['form'], 'github'>, ended: EndedCommand): string {
  if (form === 'junit') return formatJunit(ended);
  if (form === 'markdown') return formatMarkdown(ended);
  const document = ended.kind === 'built' ? encodeBuildReport(ended.report) : { diagnostics: ended.diagnostics.map(encodeDiagnostic) };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Other commands of the step write to this file too. */
function appendSummary(path: string, text: string): void {
  try {
    appendFileSync(path, text);
  } catch (error) {
    throw new CodedError('not-writable', `${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
