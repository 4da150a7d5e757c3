/** Moved positions as entries of reports, and as lines of the log. */
import { fixed } from '../../base/text/fixed.js';
import type { Refinement } from '../positions/refine-positions.js';
import type { Decibels, PositionsEntry } from './report-entries.js';

export function describeRefinement({ method, moves, price, isOptimal, unmet }: Refinement): PositionsEntry {
  const ruleOf = ({ kind, node, opType }: Refinement['unmet'][number]) => ({ rule: kind, node, opType });
  return {
    method,
    moves: moves.map(({ name, role, from, to, before, after, reasons }) => ({
      name,
      role,
      from,
      to,
      price: after - before,
      sqnrDbBefore: decibelsOf(before),
      sqnrDbAfter: decibelsOf(after),
      reasons: reasons.map(ruleOf),
    })),
    price,
    unmet: unmet.map(ruleOf),
    ...(isOptimal === undefined ? {} : { isOptimal }),
  };
}

function decibelsOf(relative: number): Decibels {
  return relative === 0 ? null : -10 * Math.log10(relative);
}

interface LogLine {
  readonly level: 'info' | 'warning';
  readonly text: string;
}

/** What moved, and what the rules still lack. */
export function summarizeRefinement({ method, moves, unmet, isOptimal }: PositionsEntry): readonly LogLine[] {
  const lines: LogLine[] = [];
  const [worst] = [...moves].sort((a, b) => b.price - a.price);
  if (worst !== undefined) {
    const cost = `${worst.role} "${worst.name}" 2^${-worst.from} → 2^${-worst.to}, ${formatDb(worst.sqnrDbBefore)} → ${formatDb(worst.sqnrDbAfter)}`;
    lines.push({
      level: 'info',
      text: `refine ${method}: ${moves.length} scales moved for the shifts of the NPU; the most expensive: ${cost}`,
    });
  }
  if (isOptimal === false)
    lines.push({ level: 'warning', text: 'refine joint: too many rules meet at one tensor; cheaper positions may exist' });
  for (const { rule, node, opType } of unmet.slice(0, 3)) {
    const others = unmet.length > 3 && node === unmet[2]?.node ? `, and ${unmet.length - 3} more` : '';
    const help = method === 'quark' ? 'refine: joint considers all rules at once' : 'remove the overrides that fix its scales';
    lines.push({ level: 'warning', text: `refine ${method}: ${opType} "${node}" still violates ${rule}${others}: ${help}` });
  }
  return lines;
}

const formatDb = (db: Decibels): string => (db === null ? 'no error' : `${fixed(db, 1)} dB`);
