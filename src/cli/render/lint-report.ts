/** Formats lint findings grouped by rule: the limit, its source and the fix once, then every node with its measured value. */
import type { ModelReport, TargetIdentity, UnitReport } from '../../target/report/compile-report.js';
import type { Finding, Severity } from '../../target/report/finding.js';
import type { Style } from '../terminal/style.js';

export interface LintView {
  readonly style: Style;
  /** 'some': at most `SOME` nodes of each finding. */
  readonly show: 'all' | 'some';
}

const SOME = 5;
const SEVERITIES: readonly Severity[] = ['error', 'refused', 'undocumented', 'warning'];
const COLORS = { error: 'red', refused: 'red', undocumented: 'yellow', warning: 'cyan' } as const;

export function formatLint(report: ModelReport, target: TargetIdentity, view: LintView): readonly string[] {
  const title = `${report.name} for ${target.profile}: ${target.device}, ${target.dtype}, software ${target.version}`;
  const groups = groupFindings(report);
  return [view.style('bold', title), ...groups.flatMap(group => ['', ...formatGroup(group, view)]), '', ...summarize(report, groups, view)];
}

interface Group {
  readonly finding: Finding;
  /** undefined: the model as a whole. */
  readonly places: readonly (readonly [UnitReport | undefined, Finding])[];
}

/** Findings with the same rule, limit and source form one group. Groups are sorted by severity, then by first occurrence in the model. */
function groupFindings({ findings, units }: ModelReport): readonly Group[] {
  const groups = new Map<string, [UnitReport | undefined, Finding][]>();
  const add = (unit: UnitReport | undefined, finding: Finding): void => {
    const key = JSON.stringify([finding.rule, finding.severity, finding.limit, finding.source.ref, finding.fixIts]);
    const places = groups.get(key) ?? [];
    groups.set(key, places);
    places.push([unit, finding]);
  };
  for (const finding of findings) add(undefined, finding);
  for (const unit of units) for (const finding of unit.findings) add(unit, finding);
  const rank = ({ finding }: Group): number => SEVERITIES.indexOf(finding.severity);
  return [...groups.values()]
    .flatMap(places => (places[0] === undefined ? [] : [{ finding: places[0][1], places }]))
    .sort((a, b) => rank(a) - rank(b));
}

function formatGroup({ finding, places }: Group, { style, show }: LintView): readonly string[] {
  const { severity, rule, note, limit, source, fixIts } = finding;
  const shown = show === 'all' ? places : places.slice(0, SOME);
  const left = places.length - shown.length;
  return [
    `${style(COLORS[severity], `${severity}[${rule}]`)}${places.length > 1 ? `: ${places.length} nodes` : ''}`,
    ...shown.map(([unit, one]) => `  ${unit === undefined ? 'the model' : labelOf(unit)}: ${one.message}`),
    ...(left > 0 ? [`  … and ${left} more (--all)`] : []),
    ...(note === undefined ? [] : [`  note:   ${note}`]),
    `  limit:  ${limit}`,
    `  source: ${source.title} (${source.kind}), ${source.ref}`,
    ...fixIts.map(
      ({ rule: name, form, effect }) => `  fix:    rewrite rule ${name}${form === undefined ? '' : `, form ${form}`} (${effect})`,
    ),
  ];
}

function plural(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}

function labelOf({ opType, name, activation }: UnitReport): string {
  return `${opType}${activation === undefined ? '' : `+${activation}`} "${name}"`;
}

function summarize({ counts, units, legal }: ModelReport, groups: readonly Group[], { style }: LintView): readonly string[] {
  const share = counts.macs === 0 ? '' : `, ${(100 * counts.npuMacShare).toFixed(1)} % of the multiply-accumulates`;
  const demoted = units.filter(unit => unit.demoted !== undefined);
  const count = (severity: Severity): number =>
    groups.filter(group => group.finding.severity === severity).reduce((sum, group) => sum + group.places.length, 0);
  const counted = SEVERITIES.flatMap(severity =>
    count(severity) === 0 ? [] : [`${count(severity)} ${severity}${severity === 'warning' && count(severity) > 1 ? 's' : ''}`],
  );
  return [
    ...(demoted[0] === undefined
      ? []
      : [`${demoted.length} legal units also run on the CPU, for example ${labelOf(demoted[0])}: ${demoted[0].demoted}`]),
    `NPU ${counts.npuUnits} of ${counts.units} units in ${counts.npuParts} ${counts.npuParts === 1 ? 'part' : 'parts'}${share}; CPU ${plural(counts.cpuUnits, 'unit')}, ${plural(counts.cpuNodes, 'node')}; at the ends ${plural(counts.edgeNodes, 'node')}`,
    legal
      ? `${style('green', '✓')} legal${counted.length > 0 ? `, with ${counted.join(', ')}` : ''}`
      : `${style('red', '✗')} ${counted.join(', ')}`,
  ];
}
