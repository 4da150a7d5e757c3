/** Opens the page of a project: token, server, live updates. */

import { join } from 'node:path';
import { cacheFolderAt } from '../engine/store/cache-folder.js';
import type { AccessToken } from './access/access-token.js';
import { answerData } from './answer-data.js';
import { openEdits } from './edit/edit-session.js';
import { openEventStream } from './http/event-stream.js';
import { openPageFiles } from './http/page-files.js';
import { listen } from './http/serve.js';
import { openModelReader } from './model/read-model-view.js';
import { openTensorReader } from './model/read-tensor.js';
import { openTrialReader } from './model/read-trial.js';
import { followBuilds } from './project/follow-builds.js';
import type { LiveEvent } from './project/live-event.js';
import { type News, openLiveProject } from './project/live-project.js';
import type { ProjectPorts } from './project/project-ports.js';
import type { RunningBuild } from './project/running-build.js';
import { startedBuilds } from './project/started-builds.js';
import { openSweeps } from './project/sweeps.js';

export interface PageOptions {
  readonly ports: ProjectPorts;
  readonly token: AccessToken;
  /** To try in order; 0 lets the system choose. */
  readonly tryPorts: readonly number[];
  /** The folder of the page's files. */
  readonly pageFolder: string;
  readonly onDefect: (error: unknown) => void;
}

export interface OpenPage {
  readonly port: number;
  /** The address with the token, for the user's browser. */
  address(): string;
  close(): Promise<void>;
}

/** A page that is opened comes soon. Until then files are watched, so that its first answer is ready. */
const FIRST_PAGE_MS = 60_000;

/** A build that ended earlier is one from before the page was open. */
const JUST_ENDED_MS = 5_000;

/** Of a build that broke off, or that ended long ago, nothing is known but what the files say. */
function newsOf({ state, endedMs = 0 }: RunningBuild): News {
  if (state === 'running') return 'results';
  return state === 'ended' && Date.now() - endedMs < JUST_ENDED_MS ? 'ended' : 'files';
}

/** The same defect comes again with every look. */
function onceEach(tell: (error: unknown) => void): (error: unknown) => void {
  const told = new Set<string>();
  return error => {
    const text = String(error);
    if (!told.has(text)) tell(error);
    told.add(text);
  };
}

/** @throws system errors of listening, and of reading the page's files. */
export async function openPage({ ports, token, tryPorts, pageFolder, onDefect }: PageOptions): Promise<OpenPage> {
  const cache = cacheFolderAt(join(ports.projectFolder, 'cache'));
  const send = (event: LiveEvent): void => stream.send(event);
  const project = openLiveProject(ports, {
    onChange: () => send({ event: 'changed', data: {} }),
    build: () => follower.current(),
  });
  let lastEnded = '';
  const onBuild = (build: RunningBuild): void => {
    send({ event: 'build', data: build });
    // What a stage has published is news for every view.
    const ended = `${build.startedMs} ${build.state} ${Object.values(build.stages).filter(({ endedMs }) => endedMs !== undefined).length}`;
    if (ended !== lastEnded) project.note(newsOf(build));
    lastEnded = ended;
  };
  const follower = followBuilds(cache, ports.pipeline, onBuild, onceEach(onDefect));
  const stream = openEventStream(clients => {
    follower.pace(clients > 0 ? 'often' : 'never');
    project.watch(clients > 0 ? 'files' : 'nothing');
    ports.keepReady(clients > 0 ? 'next' : 'none');
  });
  const builds = startedBuilds(ports, ended => {
    send({ event: 'started', data: builds.running() });
    send({ event: 'ended', data: ended });
    project.note();
  });
  const first = (): readonly LiveEvent[] => [
    { event: 'hello', data: { access: ports.access } },
    { event: 'build', data: follower.current() ?? null },
    { event: 'started', data: builds.running() },
  ];
  const sweeps = openSweeps(cache, ports.pipeline, {
    start: ports.startSweep,
    onLine: (name, line) => send({ event: 'sweep', data: { name, line } }),
    now: () => new Date(),
  });
  const edits = openEdits(ports.file.path, ports.check, cache.edits(ports.pipeline));
  const tensors = openTensorReader(ports.engine.installRoot);
  const trials = openTrialReader(ports.engine.installRoot);
  const context = {
    ports,
    project,
    builds,
    edits,
    models: openModelReader(ports.engine.installRoot),
    tensors,
    trials,
    sweeps,
    follow: ({ response }: { response: Parameters<typeof stream.add>[0] }) => stream.add(response, first()),
  };
  const { server, port } = await listen(tryPorts, {
    token,
    files: openPageFiles(pageFolder),
    answer: async request => {
      const answer = await answerData(request, context);
      if (['build', 'sweep', 'cancel'].includes(request.name)) send({ event: 'started', data: builds.running() });
      return answer;
    },
    onDefect,
  });
  // A page is opened soon: the first look is made before it asks. Its errors are those of the request that comes then.
  project.watch('files');
  project.state().catch(() => undefined);
  const unseen = setTimeout(() => {
    if (stream.clients() === 0) project.watch('nothing');
  }, FIRST_PAGE_MS).unref();
  return {
    port,
    address: () => `http://127.0.0.1:${port}/#token=${token.current()}`,
    async close() {
      clearTimeout(unseen);
      builds.cancel();
      ports.keepReady('none');
      tensors.close();
      trials.close();
      follower.close();
      project.close();
      stream.close();
      await new Promise<void>(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}
