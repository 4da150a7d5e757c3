/** Findings and figures in the log of a compiler, by the patterns of its description. */
import type { JsonObject } from '../../src/base/json.js';
import type { ToolDescription } from './params.js';

export interface ToolFinding extends JsonObject {
  readonly severity: ToolDescription['findings'][number]['severity'];
  /** The line, cut at `MOST_CHARACTERS`. */
  readonly message: string;
  readonly operator?: string;
  readonly node?: string;
  readonly reason?: string;
  /** Lines that are equal. */
  readonly count: number;
}

export interface ToolLog {
  readonly findings: readonly ToolFinding[];
  /** Lines that are findings, those that were left out too. */
  readonly counts: Readonly<Record<ToolFinding['severity'], number>>;
  readonly figures: Readonly<Record<string, number>>;
  /** Findings that were left out. */
  readonly leftOut: number;
}

const MOST_CHARACTERS = 1000;
/** Of one severity in one stream: many notes hide no error. */
const MOST_FINDINGS = 5000;
/** Of the reason of one finding. */
const MOST_LINES = 20;
/** Colors and cursor movements of terminals. */
const ESCAPES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, 'g');

export interface LogReader {
  add(stream: OutputStream, text: string): void;
  end(): ToolLog;
}

type OutputStream = 'stdout' | 'stderr';

/**
 * Reads line by line, so that a log of any size takes bounded memory. Each stream has its own lines, and those of standard output come first: how the system
 * mixes the streams changes nothing. Patterns must be valid.
 */
export function openLogReader(description: LogRules): LogReader {
  const rules = compileRules(description);
  const streams = { stdout: openStream(rules), stderr: openStream(rules) };
  return {
    add: (stream, text) => streams[stream].add(text),
    end: () => joinLogs([streams.stdout.end(), streams.stderr.end()]),
  };
}

type LogRules = Pick<ToolDescription, 'findings' | 'figures'>;

interface CompiledRules {
  readonly findings: readonly Rule[];
  readonly figures: readonly { readonly name: string; readonly pattern: RegExp }[];
}

function compileRules({ findings, figures }: LogRules): CompiledRules {
  return {
    findings: findings.map(({ pattern, continued, severity }) => ({
      pattern: new RegExp(pattern, 'u'),
      continued: continued === undefined ? undefined : new RegExp(continued, 'u'),
      severity,
    })),
    figures: Object.entries(figures).map(([name, pattern]) => ({ name, pattern: new RegExp(pattern, 'u') })),
  };
}

function openStream({ findings: rules, figures }: CompiledRules): { add(text: string): void; end(): ToolLog } {
  const found = new Map<string, { finding: ToolFinding; count: number }>();
  const kept = noCounts();
  const counts = noCounts();
  const numbers = new Map<string, number>();
  let rest = '';
  let leftOut = 0;
  /** A finding whose further lines may follow. */
  let open: Open | undefined;
  const close = (): void => {
    if (open === undefined) return;
    const reason = [...(open.finding.reason === undefined ? [] : [open.finding.reason]), ...open.lines].join('; ');
    const finding = { ...open.finding, ...(reason === '' ? {} : { reason }) };
    open = undefined;
    counts[finding.severity]++;
    const key = JSON.stringify(finding);
    const known = found.get(key);
    if (known !== undefined) known.count++;
    else if (kept[finding.severity] >= MOST_FINDINGS) leftOut++;
    else {
      kept[finding.severity]++;
      found.set(key, { finding, count: 1 });
    }
  };
  const readLine = (line: string): void => {
    const text = line.replace(ESCAPES, '').trimEnd().slice(0, MOST_CHARACTERS);
    for (const { name, pattern } of figures) {
      const value = toNumber(pattern.exec(text)?.groups?.value);
      if (value !== undefined) numbers.set(name, value);
    }
    if (open?.continued?.test(text) === true && open.lines.length < MOST_LINES) {
      open.lines.push(text.replace(/^[\s-]+/, ''));
      return;
    }
    close();
    open = matchLine(text, rules);
  };
  return {
    add(text) {
      // A carriage return at the end may be the first half of a line's end.
      const lines = (rest + text).split(/\r\n|\n|\r(?!$)/);
      rest = (lines.pop() ?? '').slice(0, MOST_CHARACTERS);
      for (const line of lines) readLine(line);
    },
    end() {
      if (rest !== '') readLine(rest);
      rest = '';
      close();
      return {
        findings: [...found.values()].map(({ finding, count }) => ({ ...finding, count })),
        counts,
        figures: Object.fromEntries(numbers),
        leftOut,
      };
    },
  };
}

function noCounts(): Record<ToolFinding['severity'], number> {
  return { error: 0, refused: 0, warning: 0, note: 0 };
}

/** Undefined for an empty text, and for one that is no number. */
function toNumber(text: string | undefined): number | undefined {
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/** Equal findings of two streams become one. Of a figure in both, that of the last stream counts. */
function joinLogs(logs: readonly ToolLog[]): ToolLog {
  const found = new Map<string, ToolFinding>();
  const counts = noCounts();
  for (const log of logs) {
    for (const finding of log.findings) {
      const key = JSON.stringify({ ...finding, count: 1 });
      found.set(key, { ...finding, count: finding.count + (found.get(key)?.count ?? 0) });
    }
    for (const severity of ['error', 'refused', 'warning', 'note'] as const) counts[severity] += log.counts[severity];
  }
  const figures = logs.flatMap(log => Object.entries(log.figures)).sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
  return {
    findings: [...found.values()],
    counts,
    figures: Object.fromEntries(figures),
    leftOut: logs.reduce((sum, log) => sum + log.leftOut, 0),
  };
}

interface Open {
  readonly finding: ToolFinding;
  readonly continued: RegExp | undefined;
  readonly lines: string[];
}

interface Rule {
  readonly pattern: RegExp;
  readonly continued: RegExp | undefined;
  readonly severity: ToolFinding['severity'];
}

function matchLine(text: string, rules: readonly Rule[]): Open | undefined {
  for (const { pattern, continued, severity } of rules) {
    const match = pattern.exec(text);
    if (match === null) continue;
    const { operator, node, reason } = match.groups ?? {};
    const finding: ToolFinding = {
      severity,
      message: text.trim(),
      ...(operator === undefined ? {} : { operator: operator.trim() }),
      ...(node === undefined ? {} : { node }),
      ...(reason === undefined || reason.trim() === '' ? {} : { reason: reason.trim() }),
      count: 1,
    };
    return { finding, continued, lines: [] };
  }
  return undefined;
}
