/** A part process: a second process of a stage, which computes parts for its worker while a slot is lent to it. */
import type { Context } from '../../../stage/context.js';
import { messageOf } from '../../model/engine-error.js';
import type { LocalDocument } from './action-document.js';
import type { FromPartProcess, PartOrder } from './part-messages.js';
import type { LoadPart } from './parts-document.js';

/** Computes the parts that the worker sends, one after the other, until the worker closes the channel. */
export async function runPartProcess(local: LocalDocument, loadPart: LoadPart): Promise<void> {
  const send = (message: FromPartProcess): void => {
    if (process.connected) process.send?.(message);
  };
  process.on('disconnect', () => process.exit());
  const abort = new AbortController();
  process.on('SIGTERM', () => abort.abort(new Error('the stage was cancelled')));
  const context: Pick<Context, 'signal' | 'log'> = {
    signal: abort.signal,
    log(level, message) {
      if ((level !== 'info' && level !== 'warning') || typeof message !== 'string')
        throw new TypeError('context.log expects a level ("info" or "warning") and a text');
      send({ kind: 'log', level, message });
    },
  };
  const guard = local.modules === undefined ? undefined : await (await import('./module-guard.js')).guardModules(local.modules);
  process.on('message', ({ number, name, module, ...job }: PartOrder) => {
    const compute = async (): Promise<readonly string[]> => {
      const part = await loadPart(module, name);
      const names: readonly string[] = await part.run({ ...job, context });
      const refused = guard?.findRefused();
      if (refused !== undefined) throw refused;
      return names;
    };
    compute().then(
      names => send({ kind: 'computed', number, names, peakBytes: process.resourceUsage().maxRSS * 1024 }),
      error => send({ kind: 'failed', number, why: messageOf(error) }),
    );
  });
}
