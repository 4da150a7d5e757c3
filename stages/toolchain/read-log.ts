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
  readonly figures: Readonly<Record<string, number>>;
  /** Findings that were left out. */
  readonly leftOut: number;
}

const MOST_CHARACTERS = 1000;
const MOST_FINDINGS = 5000;
/** Of the reason of one finding. */
const MOST_LINES = 20;
/** Colors and cursor movements of terminals. */
const ESCAPES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, 'g');

export interface LogReader {
  add(text: string): void;
  end(): ToolLog;
}

/** Reads line by line, so that a log of any size takes bounded memory. Patterns must be valid. */
export function openLogReader({ findings: rules, figures }: Pick<ToolDescription, 'findings' | 'figures'>): LogReader {
  const patterns = rules.map(({ pattern, continued, severity }) => ({
    pattern: new RegExp(pattern, 'u'),
    continued: continued === undefined ? undefined : new RegExp(continued, 'u'),
    severity,
  }));
  const values = Object.entries(figures).map(([name, pattern]) => ({ name, pattern: new RegExp(pattern, 'u') }));
  const found = new Map<string, { finding: ToolFinding; count: number }>();
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
    const key = JSON.stringify(finding);
    const known = found.get(key);
    if (known !== undefined) known.count++;
    else if (found.size >= MOST_FINDINGS) leftOut++;
    else found.set(key, { finding, count: 1 });
  };
  const readLine = (line: string): void => {
    const text = line.replace(ESCAPES, '').trimEnd().slice(0, MOST_CHARACTERS);
    for (const { name, pattern } of values) {
      const value = Number(pattern.exec(text)?.groups?.value ?? Number.NaN);
      if (Number.isFinite(value)) numbers.set(name, value);
    }
    if (open?.continued?.test(text) === true && open.lines.length < MOST_LINES) {
      open.lines.push(text.replace(/^[\s-]+/, ''));
      return;
    }
    close();
    open = matchLine(text, patterns);
  };
  return {
    add(text) {
      const lines = (rest + text).split(/\r\n|\n|\r/);
      rest = (lines.pop() ?? '').slice(0, MOST_CHARACTERS);
      for (const line of lines) readLine(line);
    },
    end() {
      if (rest !== '') readLine(rest);
      rest = '';
      close();
      return {
        findings: [...found.values()].map(({ finding, count }) => ({ ...finding, count })),
        figures: Object.fromEntries([...numbers].sort(([a], [b]) => (a < b ? -1 : 1))),
        leftOut,
      };
    },
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
