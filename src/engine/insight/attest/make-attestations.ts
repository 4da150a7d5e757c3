/** Attestations of the current results: one statement per stage, of the targets and of all stages before them. */
import type { JsonObject } from '../../../base/json.js';
import { isUnpublished, type PinnedStage } from '../../action/pinned-stage.js';
import { placeOf, type Session } from '../../action/session.js';
import type { AcceptedStage } from '../../model/accepted-stage.js';
import { artifactPath } from '../../model/artifact-path.js';
import { selectStages } from '../../model/dependencies.js';
import { EngineError } from '../../model/engine-error.js';
import type { Plan, PlannedStage, StageId } from '../../model/plan.js';
import type { EnginePorts } from '../../model/ports.js';
import { findTouched } from '../../store/published.js';
import { openForReading, type StatusOptions } from '../status/status.js';
import { makeStatement, type Origins, type Resource, type Statement, subjectOf } from './statement.js';

export interface AttestOptions extends Pick<StatusOptions, 'cacheFolder' | 'sharedCache'> {
  readonly targets: 'all' | readonly StageId[];
  /** Of this program. */
  readonly version: string;
}

/** @throws EngineError `attest-outdated` unless every stage is up to date. */
export async function makeAttestations(plan: Plan, options: AttestOptions, ports: EnginePorts): Promise<readonly Statement[]> {
  const session = openForReading(plan, options, ports);
  const statements: Statement[] = [];
  for (const stage of selectStages(plan, options.targets)) {
    const accepted = session.state.stages.get(stage.id);
    if (accepted === undefined) throw outdated(stage, 'it has no result here');
    const pinned = await session.pinner.pin(stage, id => session.state.stages.get(id));
    if (pinned.key !== accepted.key) throw outdated(stage, 'its inputs have changed since it was built');
    const { folder, names } = placeOf(plan, stage);
    const touched = findTouched(folder, accepted, names);
    if (touched !== undefined) throw outdated(stage, touched);
    statements.push(
      makeStatement({
        pipeline: plan.pipeline,
        stage: stage.id,
        manifest: pinned.manifest,
        key: pinned.key,
        subject: subjectsOf(session, stage, accepted),
        origins: originsOf(pinned),
        version: options.version,
      }),
    );
  }
  return statements;
}

/** What a build left on a server is not known here: the help covers it too. */
function outdated(stage: PlannedStage, why: string): EngineError {
  return new EngineError('attest-outdated', `${stage.id} cannot be attested: ${why}`, {
    help: 'build first, with "--download all" if a build left its outputs on the server',
  });
}

function subjectsOf({ plan }: Session, stage: PlannedStage, { outputs }: AcceptedStage): readonly Resource[] {
  return Object.entries(outputs).map(([port, { kind, digest }]) => subjectOf(artifactPath(plan, stage, port), kind, digest));
}

function originsOf({ inputs }: PinnedStage): Origins {
  const origins: Record<string, JsonObject> = {};
  for (const input of inputs) {
    const { port, entry, ref } = input;
    const name = entry === undefined ? `input:${port}` : `input:${port}.${entry}`;
    if (isUnpublished(input)) continue;
    origins[name] = ref.kind === 'source' ? { source: ref.path } : { artifact: `${ref.stage}.${ref.port}` };
  }
  return origins;
}
