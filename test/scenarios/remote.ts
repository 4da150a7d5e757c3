/** Scenarios with a remote cache: its faults, and its transparency on random graphs. */
import { match, ok, strictEqual } from 'node:assert';
import { type CliWorld, givenProject } from '../support/cli-world.js';
import { startFakeServer } from '../support/remote/fake-grpc-server.js';
import { startFakeHttpServer } from '../support/remote/fake-http-server.js';
import { type HttpFault, startHttpProxy } from '../support/remote/http-proxy.js';
import { checkTransparency } from '../support/remote/transparency.js';
import { roundsOf } from '../support/rounds.js';
import type { Scenario } from './scene.js';

const ROUNDS = roundsOf(30);

const PIPELINE = `version: 1
sources: {text: source.txt}
stages:
  upper:
    uses: command
    with: {run: ["echo run >> $TRACE; tr a-z A-Z < in > out"], shell: sh, inputs: {text: in}, outputs: {text: out}, env: {TRACE: /dev/null}}
    inputs: {text: "\${sources.text}"}
  twice:
    uses: command
    with: {run: ["cat in in > out"], shell: sh, inputs: {text: in}, outputs: {text: out}}
    inputs: {text: upper.text}
`;

interface Ended {
  readonly exitCode: number | null;
  readonly output: string;
  readonly text: string;
}

/** Builds on a machine of its own, and removes it. The process runs beside this one, which serves the cache. */
async function buildOnce(address: string, write: 'yes' | 'no'): Promise<Ended> {
  const environment = { TANREN_REMOTE_CACHE: address, TANREN_REMOTE_WRITE: write, TANREN_CONFIG: 'none.yaml' };
  const world: CliWorld = givenProject({ 'pipeline.yaml': PIPELINE, 'source.txt': 'iron\n' }, environment);
  try {
    const build = world.start('build');
    const exitCode = await build.ended;
    return { exitCode, output: build.output(), text: world.exists('artifacts/twice/text') ? world.read('artifacts/twice/text') : '' };
  } finally {
    world.remove();
  }
}

function expectBuilt(what: string, { exitCode, output, text }: Ended, troubles: 'some' | 'none' | 'any'): void {
  strictEqual(exitCode, 0, `${what}: ${output}`);
  strictEqual(text, 'IRON\nIRON\n', what);
  const warnings = output.match(/warning\[remote-cache-failed\]/g)?.length ?? 0;
  if (troubles !== 'any') strictEqual(warnings > 0, troubles === 'some', `${what}: ${output}`);
  ok(warnings <= 3, `${what}: ${output}`);
}

const FAULTS: readonly (readonly [what: string, fault: HttpFault, troubles: 'some' | 'none'])[] = [
  ['404', { kind: 'status', code: 404 }, 'none'],
  ['500', { kind: 'status', code: 500 }, 'some'],
  ['429', { kind: 'status', code: 429, headers: { 'retry-after': '7200' } }, 'some'],
  ['a reset', { kind: 'reset' }, 'some'],
  ['a reset in mid-body', { kind: 'cut' }, 'some'],
  ['wrong bytes', { kind: 'wrong-bytes' }, 'some'],
  ['an expired token', { kind: 'status', code: 401 }, 'some'],
  ['a redirect', { kind: 'status', code: 307, headers: { location: 'https://elsewhere.example.com/' } }, 'some'],
];

async function playFaults(): Promise<void> {
  const http = await startFakeHttpServer();
  const grpc = await startFakeServer();
  try {
    const address = `http://127.0.0.1:${http.port}`;
    expectBuilt('first', await buildOnce(address, 'yes'), 'none');
    const taken = await buildOnce(address, 'no');
    expectBuilt('taken', taken, 'none');
    match(taken.output, /2 hits/);
    for (const [what, fault, troubles] of FAULTS) {
      const proxy = await startHttpProxy(http.port, () => fault);
      expectBuilt(what, await buildOnce(`http://127.0.0.1:${proxy.port}`, 'no'), troubles);
      await proxy.close();
    }
    const hanging = await startHttpProxy(http.port, ({ number }) => (number === 0 ? { kind: 'hang' } : undefined));
    expectBuilt('a hang', await buildOnce(`http://127.0.0.1:${hanging.port}`, 'no'), 'some');
    await hanging.close();
    for (const path of http.bodies.keys()) if (path.startsWith('/cas/')) http.bodies.delete(path);
    expectBuilt('hits whose blobs are lost', await buildOnce(address, 'no'), 'some');

    const shared = `grpc://127.0.0.1:${grpc.port}/main`;
    for (const one of await Promise.all([buildOnce(shared, 'yes'), buildOnce(shared, 'yes')]))
      expectBuilt('a race for one key', one, 'any');
    const after = await buildOnce(shared, 'no');
    expectBuilt('after the race', after, 'none');
    match(after.output, /2 hits/);
  } finally {
    await http.close();
    await grpc.close();
  }
}

export const REMOTE: readonly Scenario[] = [
  {
    number: 36,
    title: 'a remote cache with 404, 500, 429, hang, reset, wrong bytes, lost blobs and two clients racing one key: each build is right',
    pace: 'slow',
    play: playFaults,
  },
  {
    number: 300,
    title: `${ROUNDS} random graphs and edits, their results in folders, archives and servers, with random faults: equal bytes, the same executed stages`,
    pace: 'slow',
    play: () => checkTransparency(ROUNDS),
  },
];
