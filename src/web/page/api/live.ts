/** Live updates: the server's events, read by fetch. After a break the page connects again, and asks for everything. */
import { parseLiveEvent } from '../../project/live-event.js';
import type { RunningBuild } from '../../project/running-build.js';
import type { EndedBuild } from '../../project/started-builds.js';
import { request } from './client.js';
import { createStore } from './store.js';

export type Connection = 'connecting' | 'connected' | 'lost' | 'refused';

export const connection = createStore<Connection>('connecting');

/** Grows when anything that the page shows may have changed. */
export const changes = createStore(0);

/** The running or last build, whichever process runs it. */
export const build = createStore<RunningBuild | undefined>(undefined);

/** Processes of the builds that this page's server started. */
export const ownBuilds = createStore<readonly number[]>([]);

/** The last build of this page that ended. */
export const endedBuild = createStore<EndedBuild | undefined>(undefined);

/** What a sweep of the page printed last. */
export const sweepLine = createStore<{ readonly name: string; readonly line: string } | undefined>(undefined);

const [FIRST_WAIT_MS, LONGEST_WAIT_MS] = [300, 5_000];

/** Never returns: it follows the server as long as the page is open. */
export async function followServer(): Promise<void> {
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(LONGEST_WAIT_MS, 2 * waitMs)) {
    const how = await follow(() => {
      waitMs = FIRST_WAIT_MS;
    });
    connection.set(how);
    await new Promise(resolve => setTimeout(resolve, waitMs));
  }
}

async function follow(onOpen: () => void): Promise<Connection> {
  try {
    const response = await request('events');
    if (response.status === 401 || response.status === 403) return 'refused';
    if (!response.ok || response.body === null) return 'lost';
    onOpen();
    connection.set('connected');
    changes.set(changes.get() + 1);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ''; ; ) {
      const { done, value } = await reader.read();
      if (done) return 'lost';
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) take(block);
    }
  } catch {
    // The server ended, or was never there: the page says so, and tries again.
    return 'lost';
  }
}

function take(block: string): void {
  const event = /^event: (.*)$/m.exec(block)?.[1];
  const data = /^data: (.*)$/m.exec(block)?.[1];
  if (event === undefined || data === undefined) return;
  const live = parseLiveEvent(event, data);
  if (live?.event === 'changed') changes.set(changes.get() + 1);
  else if (live?.event === 'build') build.set(live.data ?? undefined);
  else if (live?.event === 'started') ownBuilds.set(live.data);
  else if (live?.event === 'sweep') sweepLine.set(live.data);
  else if (live?.event === 'ended') endedBuild.set(live.data);
}
