/** A process that builds for the page. It runs a command at once, or gets ready for one: then it has loaded what a build loads and started workers. */
import { assertNever } from '../../../base/assert-never.js';
import { readConfigText } from '../../../engine/config/read-text.js';
import type { Ran, RunOrder, StartOrder } from '../../pipeline/build-orders.js';
import { offerStandby } from '../../pipeline/engine-ports.js';
import { loadFrom, type PipelineOptions } from '../../pipeline/open-plan.js';
import { openStandby } from '../../pipeline/open-standby.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';

/** @param run runs a command. */
export async function takeOrder([text = '']: readonly string[], run: (words: readonly string[]) => Promise<ExitCode>): Promise<ExitCode> {
  const start = JSON.parse(text) as StartOrder;
  const standby = openStandby({}, start.kind === 'wait' ? start.workers : []);
  offerStandby(standby);
  try {
    const order = await findOrder(start);
    if (order === 'left') return EXIT.built;
    process.argv = [...process.argv.slice(0, 2), ...order.words];
    const code = await run(order.words);
    await send({ workers: standby.asked() });
    return code;
  } finally {
    standby.close();
    if (process.connected) process.disconnect();
  }
}

async function findOrder(start: StartOrder): Promise<RunOrder | 'left'> {
  switch (start.kind) {
    case 'run':
      return start;
    case 'wait': {
      const ordered = nextOrder();
      await loadCode(start.options);
      return ordered;
    }
    default:
      return assertNever(start);
  }
}

/** Loads modules, compiles schemas and reads the pipeline once. An error of the pipeline file is one of the command that comes. */
async function loadCode(options: PipelineOptions): Promise<void> {
  await Promise.all([import('./build.js'), import('./sweep.js')]);
  await loadFrom(options, readConfigText).catch(() => undefined);
}

/** @returns 'left' when the page's process ends, or needs this one no more. */
function nextOrder(): Promise<RunOrder | 'left'> {
  return new Promise(resolve => {
    if (!process.connected) resolve('left');
    process.once('disconnect', () => resolve('left'));
    process.once('message', (order: RunOrder) => {
      // A build goes on when the page's process has ended.
      process.channel?.unref();
      resolve(order);
    });
  });
}

function send(message: Ran): Promise<void> {
  return new Promise(resolve => {
    if (!process.connected || process.send === undefined) resolve();
    else process.send(message, () => resolve());
  });
}
