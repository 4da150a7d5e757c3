/**
 * A build as JUnit XML, in the form that Jenkins and GitLab read: stages, gates and checks are test cases.
 * Elements and attributes are those of the schema of Jenkins's xunit plugin (junit-10.xsd).
 */
import { assertNever } from '../../../base/assert-never.js';
import type { CheckResult } from '../../../engine/model/check-result.js';
import { type Diagnostic, formatDiagnostic } from '../../../engine/model/diagnostic.js';
import type { GateResult } from '../../../engine/model/gate-result.js';
import type { StageReport } from '../../../engine/model/report.js';
import { formatUnreproduced } from '../check-report.js';
import { boundOf, type EndedCommand, missOf } from './ended-command.js';
import { failureText, PLAIN } from './failure-text.js';

interface TestCase {
  readonly className: string;
  readonly name: string;
  readonly seconds: number;
  readonly result: Passed | NotPassed;
}

interface Passed {
  readonly kind: 'passed';
  readonly output?: string;
}

interface NotPassed {
  readonly kind: 'failure' | 'error' | 'skipped';
  /** A code of docs/errors.md. */
  readonly type?: string;
  readonly message: string;
  readonly text?: string;
}

interface Suite {
  readonly name: string;
  readonly cases: readonly TestCase[];
}

export function formatJunit(ended: EndedCommand): string {
  const suites = suitesOf(ended).filter(({ cases }) => cases.length > 0);
  const all = suites.flatMap(({ cases }) => cases);
  const seconds = ended.kind === 'built' ? ended.report.durationMs / 1000 : 0;
  const attributes = {
    name: 'tanren',
    tests: all.length,
    failures: count(all, 'failure'),
    errors: count(all, 'error'),
    time: fixed(seconds),
  };
  return `<?xml version="1.0" encoding="UTF-8"?>\n${open('testsuites', attributes)}\n${suites.map(formatSuite).join('')}</testsuites>\n`;
}

function suitesOf(ended: EndedCommand): readonly Suite[] {
  if (ended.kind === 'refused') return [{ name: 'pipeline', cases: ended.diagnostics.map(caseOfDiagnostic) }];
  const { plan, report } = ended;
  return [
    { name: `${plan.pipeline}: stages`, cases: [...report.stages.values()].map(caseOfStage) },
    { name: `${plan.pipeline}: gates`, cases: report.gates.map(caseOfGate) },
    { name: `${plan.pipeline}: checks`, cases: report.checks.map(caseOfCheck) },
  ];
}

function caseOfDiagnostic(diagnostic: Diagnostic): TestCase {
  const { severity, code, message, span } = diagnostic;
  const text = formatDiagnostic(diagnostic, new Map());
  const result: TestCase['result'] = severity === 'error' ? { kind: 'error', type: code, message, text } : { kind: 'passed', output: text };
  return {
    className: span?.file ?? 'arguments',
    name: span === undefined ? code : `${code} at ${span.line}:${span.column}`,
    seconds: 0,
    result,
  };
}

function caseOfStage({ stage, outcome }: StageReport): TestCase {
  const at = { className: 'stage', name: stage };
  switch (outcome.kind) {
    case 'executed':
      return { ...at, seconds: outcome.durationMs / 1000, result: { kind: 'passed' } };
    case 'restored':
    case 'up-to-date':
      return { ...at, seconds: 0, result: { kind: 'passed' } };
    case 'failed': {
      const { code, message } = outcome.failure;
      const text = failureText(stage, outcome.failure);
      return { ...at, seconds: 0, result: { kind: code === 'internal' ? 'error' : 'failure', type: code, message, text } };
    }
    case 'skipped':
      return { ...at, seconds: 0, result: { kind: 'skipped', message: `${outcome.because} failed` } };
    case 'cancelled':
      return { ...at, seconds: 0, result: { kind: 'skipped', message: 'cancelled' } };
    default:
      return assertNever(outcome);
  }
}

function caseOfGate(gate: GateResult): TestCase {
  const { file, line, column } = gate.gate.span;
  const text = [missOf(gate), `${file}:${line}:${column}`, ...(gate.reasons ?? [])].join('\n');
  const result: TestCase['result'] =
    gate.verdict === 'met' ? { kind: 'passed' } : { kind: 'failure', type: 'gate-missed', message: missOf(gate), text };
  return { className: `gate.${gate.stage}`, name: boundOf(gate), seconds: 0, result };
}

function caseOfCheck(check: CheckResult): TestCase {
  const at = { className: 'check', name: check.stage, seconds: 0 };
  switch (check.verdict) {
    case 'same':
      return { ...at, result: { kind: 'passed' } };
    case 'different': {
      const text = formatUnreproduced(check, PLAIN).join('\n');
      return {
        ...at,
        result: { kind: 'failure', type: 'non-deterministic', message: `${check.build ?? 'a second run'} gave different bytes`, text },
      };
    }
    case 'failed': {
      const { code, message } = check.failure;
      return { ...at, result: { kind: 'failure', type: code, message, text: failureText(check.stage, check.failure) } };
    }
    case 'measured':
      return { ...at, result: { kind: 'skipped', message: 'not compared, because it measures' } };
    case 'not-compared':
      return { ...at, result: { kind: 'skipped', message: `not compared, because ${check.because} measures or differs` } };
    case 'cancelled':
      return { ...at, result: { kind: 'skipped', message: 'cancelled' } };
    default:
      return assertNever(check);
  }
}

function formatSuite({ name, cases }: Suite): string {
  const seconds = cases.reduce((sum, one) => sum + one.seconds, 0);
  const attributes = {
    name,
    tests: cases.length,
    failures: count(cases, 'failure'),
    errors: count(cases, 'error'),
    skipped: count(cases, 'skipped'),
    time: fixed(seconds),
  };
  return ` ${open('testsuite', attributes)}\n${cases.map(formatCase).join('')} </testsuite>\n`;
}

function formatCase({ className, name, seconds, result }: TestCase): string {
  const start = open('testcase', { classname: className, name, time: fixed(seconds) });
  const inner = formatResult(result);
  return inner === '' ? `  ${start.slice(0, -1)}/>\n` : `  ${start}\n   ${inner}\n  </testcase>\n`;
}

function formatResult(result: TestCase['result']): string {
  if (result.kind === 'passed') return result.output === undefined ? '' : `<system-out>${escapeXml(result.output)}</system-out>`;
  const { kind, type, message, text = '' } = result;
  const start = open(kind, { ...(type === undefined ? {} : { type }), message });
  return text === '' ? `${start.slice(0, -1)}/>` : `${start}${escapeXml(text)}</${kind}>`;
}

function count(cases: readonly TestCase[], kind: TestCase['result']['kind']): number {
  return cases.filter(({ result }) => result.kind === kind).length;
}

function fixed(seconds: number): string {
  return seconds.toFixed(3);
}

function open(name: string, attributes: Readonly<Record<string, string | number>>): string {
  const texts = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(String(value)).replaceAll('\n', '&#10;')}"`);
  return `<${name}${texts.join('')}>`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

/** Characters that XML 1.0 does not allow, such as those of terminal colors, become U+FFFD. */
function escapeXml(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(/[^\t\n\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll(/[&<>"']/g, character => ENTITIES[character] ?? character);
}
