/** The state of the pipeline in one line, the running build, and the buttons that start and end builds. */
import { useEffect, useState } from 'preact/hooks';
import { formatDuration } from '../../../base/text/format.js';
import type { PipelineView } from '../../../report/views/pipeline-data.js';
import type { RunningBuild } from '../../project/running-build.js';
import type { EndedBuild } from '../../project/started-builds.js';
import { post } from '../api/client.js';
import { build as buildStore, endedBuild, ownBuilds } from '../api/live.js';
import { useStore } from '../api/store.js';
import { asApiError } from '../api/use-data.js';
import { UndoButton } from '../edits/undo-button.js';
import { Link } from '../parts/link.js';
import { Problem } from '../parts/notice.js';
import { logText, plainText } from '../parts/text.js';
import { stateOf } from './state-while-building.js';

export function BuildBar({ pipeline }: { readonly pipeline: PipelineView }) {
  const build = useStore(buildStore);
  const own = useStore(ownBuilds);
  const isRunning = build?.state === 'running';
  return (
    <div class="buildbar">
      <div class="status" role="status">
        {isRunning ? <RunningText build={build} isOwn={own.includes(build.pid)} /> : <RestText pipeline={pipeline} build={build} />}
      </div>
      <UndoButton pipeline={pipeline} />
      {pipeline.project.access === 'full' && (
        <BuildButtons targets={[]} label="Run all" running={isRunning || own.length > 0} own={own.length > 0} />
      )}
      {isRunning && <Progress build={build} />}
      <EndedNotice />
    </div>
  );
}

/** @param targets none: all stages. */
export function BuildButtons(props: {
  readonly targets: readonly string[];
  readonly label: string;
  readonly running: boolean;
  readonly own: boolean;
}) {
  const { targets, label, running, own } = props;
  const [problem, setProblem] = useState<string>();
  const act = (name: string, body: Parameters<typeof post>[1]) => () => {
    setProblem(undefined);
    post(name, body).catch((error: unknown) => setProblem(asApiError(error).message));
  };
  return (
    <span class="buttons">
      {/* Not disabled: it would lose the focus that started the build. */}
      <button type="button" onClick={() => !running && act('build', { targets: [...targets] })()} aria-disabled={running}>
        {label}
      </button>
      {own && (
        <button type="button" class="danger" onClick={act('cancel', {})}>
          Cancel
        </button>
      )}
      <Problem text={problem} />
    </span>
  );
}

function RunningText({ build, isOwn }: { readonly build: RunningBuild; readonly isOwn: boolean }) {
  const running = Object.entries(build.stages).filter(([, { state }]) => state === 'running');
  const words = running.map(([stage, { progress }]) =>
    progress === undefined ? stage : `${stage} ${progress.done}/${progress.total} ${progress.what}`,
  );
  return (
    <>
      <span class="info">●</span> <b>{isOwn ? 'Building' : 'A build runs elsewhere'}</b>
      {words.length > 0 && <>: {plainText(words.join(', '))}</>}
      {!isOwn && (
        <span class="soft">
          {' '}
          (<code>{plainText(build.command)}</code>, process {build.pid})
        </span>
      )}
    </>
  );
}

/** What is to be known while no build runs. */
export function RestText({
  pipeline: { stages, problems, cacheHolds, readMs },
  build,
}: {
  readonly pipeline: PipelineView;
  readonly build: RunningBuild | undefined;
}) {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  if (errors > 0) return <span class="bad">✗ The pipeline file has {errors === 1 ? 'an error' : `${errors} errors`}.</span>;
  const open = stages.filter(({ state }) => state !== 'up-to-date');
  const missed = stages.flatMap(({ gates }) => gates.filter(({ verdict }) => verdict === 'missed')).length;
  const killed = build?.state === 'broken-off' ? ' The last build ended without a conclusion: its process was killed.' : '';
  const gates = missed === 0 ? '' : ` ${missed === 1 ? 'A gate is' : `${missed} gates are`} missed.`;
  if (open.length === 0) {
    return (
      <>
        <span class={missed > 0 ? 'bad' : 'good'}>{missed > 0 ? '✗' : '✓'}</span> All {stages.length} stages are up to date.{gates}
        {killed}
      </>
    );
  }
  const broken = stages.filter(({ state }) => state === 'impossible');
  const [failed, ...others] = open.filter(stage => stateOf(stage, readMs, build) === 'failed');
  return (
    <>
      {failed !== undefined && (
        <>
          <span class="bad">✗</span>{' '}
          <Link view="pipeline" query={{ stage: failed.id }}>
            {plainText(failed.id)}
          </Link>
          {andOthers(others.length)} failed.{' '}
        </>
      )}
      {broken.length > 0 && (
        <>
          <span class="bad">✗</span> {describeBroken(broken)}{' '}
        </>
      )}
      <span class="warn">○</span> {open.length} of {stages.length} stages {open.length === 1 ? 'is' : 'are'} not up to date
      {describeCached(open, cacheHolds)}.{gates}
      {killed}
    </>
  );
}

/** Why they cannot run: that of the first, which is that of all where the installation of Tanren was changed. */
function describeBroken([first, ...others]: PipelineView['stages']): string {
  if (first === undefined) return '';
  return plainText(`${first.id}${andOthers(others.length)} cannot run: ${first.why.join('; ')}.`);
}

function andOthers(count: number): string {
  return count === 0 ? '' : count === 1 ? ' and another stage' : ` and ${count} other stages`;
}

/** What of them needs no run, and what there is where nothing fits. */
function describeCached(open: PipelineView['stages'], cacheHolds: number | undefined): string {
  const cached = open.filter(({ state }) => state === 'restorable').length;
  if (cached > 0) return cached === open.length ? '; the cache has their results' : `; the cache has the results of ${cached}`;
  if (cacheHolds === undefined || cacheHolds === 0) return '';
  return `; the cache holds ${cacheHolds === 1 ? 'one result' : `${cacheHolds} results`}, none for the present inputs`;
}

function Progress({ build }: { readonly build: RunningBuild }) {
  const [nowMs, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const done = build.pending.filter(({ stage }) => build.stages[stage]?.endedMs !== undefined).length;
  const all = Math.max(1, build.pending.length);
  const left = build.pending.reduce((sum, { stage, expectedMs = 0 }) => {
    const { endedMs, startedMs } = build.stages[stage] ?? {};
    if (endedMs !== undefined) return sum;
    return sum + Math.max(0, expectedMs - (startedMs === undefined ? 0 : nowMs - startedMs));
  }, 0);
  return (
    <div class="progress">
      <progress value={done} max={all} aria-label="Stages that have ended" />
      <span>
        [{done}/{build.pending.length}] {formatDuration(Math.max(0, nowMs - build.startedMs))}
        {left > 1000 && `, at most ${formatDuration(left)} left`}
      </span>
    </div>
  );
}

/** A build of this page that failed before its first stage wrote why. */
function EndedNotice() {
  const ended = useStore(endedBuild);
  const [closed, setClosed] = useState<number>();
  if (ended === undefined || closed === ended.pid || ended.exitCode === 0 || ended.exitCode === 130) return null;
  return <EndedText ended={ended} close={() => setClosed(ended.pid)} />;
}

/** Opens where the process wrote something. */
export function EndedText({ ended: { exitCode, said }, close }: { readonly ended: EndedBuild; readonly close: () => void }) {
  const line = (
    <>
      The build ended with exit code {exitCode ?? '?'}.{' '}
      <button type="button" class="quiet" onClick={close}>
        Close
      </button>
    </>
  );
  if (said.trim() === '') return <div class="ended">{line}</div>;
  return (
    <details class="ended">
      <summary>{line}</summary>
      <pre>{logText(said)}</pre>
    </details>
  );
}
