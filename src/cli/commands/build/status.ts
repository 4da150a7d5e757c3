/** `tanren status` and `build --dry-run`: reports what a build would do, and why. It writes nothing. */
import { assertNever } from '../../../base/assert-never.js';
import { isJsonObject, type Json } from '../../../base/json.js';
import { type Explanation, explainStages } from '../../../engine/insight/explain/explain-stages.js';
import { expectBuild } from '../../../engine/insight/history/expect-build.js';
import type { StageStatus } from '../../../engine/insight/status/stage-status.js';
import { examineStages } from '../../../engine/insight/status/status.js';
import { lockFileOf } from '../../../engine/lockfile/lock-path.js';
import type { StageId } from '../../../engine/model/plan.js';
import type { KnownDevice } from '../../../engine/store/state.js';
import { makeEnginePorts, neverAborted } from '../../pipeline/engine-ports.js';
import { openPlan, type PipelineOptions } from '../../pipeline/open-plan.js';
import { findSharedCache } from '../../pipeline/shared-cache.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { formatFailure } from '../../render/format-failure.js';
import { unlessRefused } from '../../render/lock-refusal.js';
import { describeAbout } from '../../render/time-left.js';
import { type Console, makeConsole } from '../../terminal/console.js';
import { nameColumns, padEnd } from '../../terminal/display-width.js';
import { wrapBehind } from '../../terminal/wrap-text.js';

export async function runStatus(
  targets: readonly string[],
  options: PipelineOptions & {
    readonly json: boolean;
    readonly force?: boolean;
    readonly frozen?: boolean;
    readonly rehash?: boolean;
    readonly why?: boolean;
    readonly jobs?: number;
  },
): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  const opened = await openPlan(options, targets, console);
  if (opened === undefined) return EXIT.usage;
  const warn = makeEnginePorts(event => {
    if (event.kind === 'warning') console.line(console.style('yellow', `warning[${event.code}]: ${event.message}`));
  }, neverAborted);
  const force = options.force === true ? 'targets' : 'never';
  const lock = options.frozen === true ? { lock: lockFileOf(options.file, process.cwd()) } : {};
  const trust = options.rehash === true ? 'nothing' : 'stamps';
  const asked = { targets: opened.targets, force, sharedCache: findSharedCache(options.cache), trust, ...lock } as const;
  if (options.why === true) return printCauses(await explainStages(opened.plan, opened.targets, warn, asked), options.json, console);
  const examined = await unlessRefused(examineStages(opened.plan, asked, warn), console, options);
  if (examined === undefined) return EXIT.usage;
  const expected = expectBuild(opened.plan, examined, options.jobs);
  if (options.json) {
    console.json({
      expected,
      stages: [...examined].map(([stage, { status, device }]) => ({ stage, ...status, ...(device && { device }) })),
    });
    return EXIT.built;
  }
  const width = nameColumns(examined.keys(), console.width());
  for (const [stage, { status, device }] of examined) {
    for (const line of formatStatus(padEnd(stage, width), status, console)) console.line(line);
    if (device !== undefined) console.line(`${padEnd('', width)}  ${formatDevice(device)}`);
    if (status.kind === 'impossible') for (const line of formatFailure(stage, status.failure, console)) console.line(line);
  }
  const open = [...examined.values()].filter(({ status }) => status.kind !== 'up-to-date').length;
  console.line(summarize(open, examined.size));
  const about = expected === undefined ? undefined : describeAbout(expected.durationMs);
  if (about !== undefined)
    console.line(
      `a build would take ${expected?.certainty === 'up-to' ? 'up to ' : ''}about ${about}, estimated from the last runs of the stages`,
    );
  return EXIT.built;
}

/** Prints stages grouped by root changes: stages with the same root changes are listed together under them. */
function printCauses(explained: ReadonlyMap<StageId, Explanation>, json: boolean, console: Console): ExitCode {
  const open = [...explained.values()].filter(({ status }) => status.kind !== 'up-to-date');
  if (json) {
    console.json({ stages: [...explained.values()].map(({ manifest: _, ...explanation }) => explanation) });
    return EXIT.built;
  }
  const groups = new Map<string, Explanation[]>();
  for (const one of open) {
    const roots = one.causes.map(({ text }) => text).join('\n');
    const group = groups.get(roots);
    if (group === undefined) groups.set(roots, [one]);
    else group.push(one);
  }
  const width = nameColumns(
    open.map(({ stage }) => stage),
    console.width(),
  );
  for (const [roots, group] of groups) {
    for (const root of roots.split('\n')) console.line(console.style('bold', root));
    for (const { stage, status } of group) {
      const brief = 'reasons' in status ? { ...status, reasons: [] } : status;
      for (const line of formatStatus(`  ${padEnd(stage, width)}`, brief, console)) console.line(line);
      if (status.kind === 'impossible') for (const line of formatFailure(stage, status.failure, console)) console.line(`  ${line}`);
    }
  }
  console.line(summarize(open.length, explained.size));
  return EXIT.built;
}

function summarize(open: number, all: number): string {
  return open === 0 ? `nothing to do: ${all} stages up to date` : `${open} of ${all} stages ${open === 1 ? 'is' : 'are'} not up to date`;
}

/** One line without a terminal; else as many as the terminal's width needs. */
export function formatStatus(name: string, status: StageStatus, { style, width }: Console): string[] {
  return wrapBehind(name, describeStatus(status, style), width());
}

function describeStatus(status: StageStatus, style: Console['style']): string {
  switch (status.kind) {
    case 'up-to-date':
      return style('green', 'up to date');
    case 'restorable':
      return `${style('cyan', 'would be restored')}${because(status.reasons)}`;
    case 'stale':
      return `${style('yellow', 'would run')}${after(status.after)}${because(status.reasons)}`;
    case 'undecided':
      if (status.equalStage === undefined) return `${style('yellow', 'depends')} on the result of ${status.because.join(', ')}`;
      return `${style('yellow', 'would run')}${after(status.because)}, unless ${status.equalStage} gives the same result first`;
    case 'impossible':
      return style('red', 'cannot run');
    case 'blocked':
      return `${style('red', 'cannot run')}, because ${status.because} cannot`;
    default:
      return assertNever(status);
  }
}

function after(stages: readonly StageId[]): string {
  return stages.length === 0 ? '' : ` after ${stages.join(', ')}`;
}

function because(reasons: readonly string[]): string {
  return reasons.length === 0 ? '' : `: ${reasons.join('; ')}`;
}

/** "device as of 2026-11-21T10:12:03Z: device.driver 32.0.203, device.kind npu, provider …". No device is started to report this. */
export function formatDevice({ identity, seen }: KnownDevice): string {
  return `device as of ${seen}: ${leavesOf(identity, '').join(', ')}`;
}

function leavesOf(value: Json, label: string): string[] {
  if (!isJsonObject(value)) return [`${label} ${typeof value === 'string' ? value : JSON.stringify(value)}`];
  return Object.entries(value).flatMap(([name, member]) => leavesOf(member, label === '' ? name : `${label}.${name}`));
}
