/** `tanren affected`: lists the stages whose keys the changes since a Git revision can change. The working tree is only read. */
import { readFileSync } from 'node:fs';
import { type Affected, type AffectedStage, findAffected } from '../../../engine/insight/affected/affected-stages.js';
import { compareContents } from '../../../engine/insight/affected/compare-with-commit.js';
import { type GitContents, readGitContents } from '../../../engine/insight/affected/git-contents.js';
import { findCommit, showFile } from '../../../engine/insight/history/git-show.js';
import { shorten } from '../../../engine/insight/history/snapshot-at-revision.js';
import { EngineError } from '../../../engine/model/engine-error.js';
import type { Plan } from '../../../engine/model/plan.js';
import { loadFrom, openPlan, type PipelineOptions } from '../../pipeline/open-plan.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { findInstallRoot } from '../../process/install-root.js';
import { batchedStreams } from '../../terminal/batched-output.js';
import { type Console, makeConsole } from '../../terminal/console.js';
import { padEnd, widest } from '../../terminal/display-width.js';
import { endWithError } from '../../terminal/end-with-error.js';

export interface AffectedOptions extends PipelineOptions {
  readonly base: string;
  readonly names: boolean;
  readonly json: boolean;
}

interface Answer extends Affected {
  readonly commit: string;
  /** Number of stages that were compared. */
  readonly all: number;
  readonly assumed: readonly string[];
  /** Why the pipeline of the commit cannot be planned; all stages are affected then. */
  readonly unplanned: string | undefined;
}

export async function runAffected(targets: readonly string[], options: AffectedOptions): Promise<ExitCode> {
  const console = makeConsole({ json: options.json || options.names });
  const opened = await openPlan(options, targets, console);
  if (opened === undefined) return EXIT.usage;
  const { plan } = opened;
  const wanted = new Set<string>(opened.targets === 'all' ? plan.stages.keys() : opened.targets);
  try {
    const answer = await compareWith(plan, options);
    const stages = answer.stages.filter(({ stage }) => wanted.has(stage));
    print({ ...answer, stages, all: wanted.size }, options, console);
    return EXIT.built;
  } catch (error) {
    return endWithError(error, console, options, EXIT.usage);
  }
}

/** @throws EngineError `unknown-revision`, `git-failed`. */
async function compareWith(plan: Plan, options: AffectedOptions): Promise<Answer> {
  const { projectFolder } = plan;
  const commit = findCommit(projectFolder, options.base);
  if (commit === undefined) {
    throw new EngineError('unknown-revision', `"${options.base}" is not a revision of the Git repository of ${projectFolder}`, {
      help: 'a checkout of a CI system may hold one commit only: fetch the revision first, for example with "git fetch origin main"',
    });
  }
  const contents = readGitContents(projectFolder, commit);
  const loaded = await loadFrom(options, path => textAt(projectFolder, commit, contents, path), [], contents.hadFile);
  const compared = await compareContents(projectFolder, findInstallRoot(), commit, contents);
  if (loaded.plan === undefined) {
    const first = loaded.diagnostics.find(({ severity }) => severity === 'error');
    const stages = [...plan.stages.keys()].map((stage): AffectedStage => ({ stage, kind: 'new', reasons: [], after: [] }));
    return { stages, removed: [], commit, all: stages.length, assumed: [], unplanned: first?.message ?? 'it has errors' };
  }
  const affected = findAffected(loaded.plan, plan, compared);
  return { ...affected, commit, all: plan.stages.size, assumed: compared.assumed(), unplanned: undefined };
}

/** A file that git does not know is read as it is now. A missing file gives the same error code as the file system. */
function textAt(projectFolder: string, commit: string, contents: GitContents, path: string): string {
  if (contents.knows(path) === 'unknown') return readFileSync(path, 'utf8');
  const content = showFile(projectFolder, commit, path);
  if (content !== undefined) return content.toString();
  throw Object.assign(new Error('file not found'), { code: 'ENOENT' });
}

function print(answer: Answer, { base, names, json, file }: AffectedOptions, console: Console): void {
  const { stages, removed, commit, assumed, unplanned, all } = answer;
  if (json) {
    console.json({ base: { revision: base, commit }, stages, removed, assumed, ...(unplanned === undefined ? {} : { unplanned }) });
    return;
  }
  if (names) {
    batchedStreams.stdout.write(stages.map(({ stage }) => `${stage}\n`).join(''));
    return;
  }
  const since = base.startsWith(shorten(commit)) ? shorten(commit) : `${base} (${shorten(commit)})`;
  console.line(
    stages.length === 0
      ? `none of ${all} stages is affected since ${since}`
      : `${stages.length} of ${all} stages are affected since ${since}`,
  );
  const width = widest(stages.map(({ stage }) => stage));
  for (const one of stages) console.line(`  ${padEnd(one.stage, width)}  ${unplanned === undefined ? describe(one) : ''}`.trimEnd());
  if (removed.length > 0) console.line(`removed: ${removed.join(', ')}`);
  if (unplanned !== undefined)
    console.line(console.style('yellow', `${file} of ${since} cannot be planned, so every stage counts: ${unplanned}`));
  if (assumed.length > 0) console.line(`note: Git does not have ${assumed.join(', ')}: taken to be unchanged`);
}

function describe({ kind, reasons, after }: AffectedStage): string {
  const behind = after.length === 0 ? [] : [`after ${after.join(', ')}`];
  return [...(kind === 'new' ? ['new'] : []), ...reasons, ...behind].join('; ');
}
