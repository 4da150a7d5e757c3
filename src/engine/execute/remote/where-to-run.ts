/** Where a stage runs: on this machine, or on the workers of a remote server. */
import { type Executor, isOnBoard, type PlannedStage } from '../../model/plan.js';

/** `need`: what follows if the workers cannot run it. 'required': the stage fails. 'preferred': it runs here. */
export type Place = { readonly kind: 'here' } | { readonly kind: 'remote'; readonly need: 'required' | 'preferred' };

/** Variables whose values are valid on this machine only: a worker has its own. */
const OF_THIS_MACHINE = /^(PATH|HOME|USER|LOGNAME|TMPDIR|TMP|TEMP|LD_.*|DYLD_.*|NODE_.*)$/;

/**
 * A stage on a board runs nowhere else; if it must not leave this machine, its run fails.
 * For another stage, its own `local` comes first, then what the build says, then what the stage says.
 * If it must not leave this machine, it runs here, whatever both say.
 * @param asked what the build asks for; undefined if it does not say.
 * @param server whether the build has a server with workers.
 */
export function placeToRun(stage: PlannedStage, asked: Executor | undefined, server: 'named' | 'none'): Place {
  if (isOnBoard(stage)) return { kind: 'remote', need: 'required' };
  const executor = stage.executor === 'local' ? 'local' : (asked ?? stage.executor ?? 'local');
  if (executor === 'local' || findReasonToStay(stage) !== undefined) return { kind: 'here' };
  if (executor === 'remote') return { kind: 'remote', need: 'required' };
  return server === 'named' ? { kind: 'remote', need: 'preferred' } : { kind: 'here' };
}

/** Whether the stage itself runs here, and its parts on the workers. */
export function spreadsParts({ plugin, determinism }: PlannedStage): boolean {
  return plugin.plugin.spreads === 'parts' && determinism === 'exact';
}

/** Why a stage runs here whatever is asked for; undefined if it may leave. */
export function findReasonToStay(stage: PlannedStage): string | undefined {
  const { secrets, network, env, determinism, plugin } = stage;
  if (secrets.length > 0) return 'it receives secrets';
  if (network === 'allowed') return 'it may use the network';
  const own = env.find(name => OF_THIS_MACHINE.test(name));
  if (own !== undefined) return `it reads ${own} of this machine`;
  if (plugin.plugin.needs === 'build-summary') return 'it describes this build';
  if (determinism === 'measured' && !isOnBoard(stage)) return 'it measures this machine';
  return undefined;
}
