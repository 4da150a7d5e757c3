/** The command line with a remote cache: who is asked, what is said, and where the token is not. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { type FakeServer, startFakeServer } from '../../support/remote/fake-grpc-server.js';
import { startGrpcProxy } from '../../support/remote/grpc-proxy.js';

const TOKEN = 'a-token-that-nobody-else-has';
const PIPELINE = `version: 1
sources: {text: source.txt}
stages:
  upper:
    uses: command
    with: {run: [cat text.txt > upper.txt], shell: sh, inputs: {text: text.txt}, outputs: {upper: upper.txt}}
    inputs: {text: "\${sources.text}"}
`;

let server: FakeServer;
const worlds: CliWorld[] = [];
beforeEach(async () => {
  server = await startFakeServer({ token: TOKEN });
});
afterEach(async () => {
  for (const world of worlds.splice(0)) world.remove();
  await server.close();
});

function checkout(pipeline = PIPELINE, environment: NodeJS.ProcessEnv = { CACHE_TOKEN: TOKEN }): CliWorld {
  const world = givenProject(
    { 'pipeline.yaml': pipeline, 'source.txt': 'iron' },
    { TANREN_CONFIG: 'settings/config.yaml', ...environment },
  );
  worlds.push(world);
  return world;
}

function settingsFor(port: number): string {
  return `remote: {cache: "grpc://127.0.0.1:${port}/main", write: true}\norigins:\n  grpc://127.0.0.1:${port}: {token: CACHE_TOKEN}\n`;
}

async function run(world: CliWorld, ...args: readonly string[]): Promise<{ readonly exitCode: number | null; readonly output: string }> {
  const process = world.start(...args);
  return { exitCode: await process.ended, output: process.output() };
}

it('builds send and take results as the settings say, and the token is in no file and no line', async () => {
  const [first, second] = [checkout(), checkout()];
  for (const world of [first, second]) world.write('settings/config.yaml', settingsFor(server.port));
  const sent = await run(first, 'build');
  expect(sent).toMatchObject({
    exitCode: 0,
    output: expect.stringMatching(/remote cache grpc:\/\/127\.0\.0\.1:\d+\/main: 0 hits, 1 miss, 1 result sent/),
  });
  const taken = await run(second, 'build');
  expect(taken).toMatchObject({ exitCode: 0, output: expect.stringContaining('from the remote cache') });
  expect(taken.output).toContain('1 hit');
  expect(await run(second, 'build')).toMatchObject({ exitCode: 0, output: expect.stringContaining('nothing to do') });
  for (const world of [first, second]) {
    const files = readdirSync(world.folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile());
    expect(files.length).toBeGreaterThan(8);
    expect(files.filter(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(TOKEN)).map(({ name }) => name)).toEqual(
      [],
    );
  }
  for (const { output } of [sent, taken]) expect(output).not.toContain(TOKEN);
});

it('a token of the environment is in no no-op record either, and a wrong one is one line', async () => {
  const url = `grpc://127.0.0.1:${server.port}`;
  const good = checkout(PIPELINE, { TANREN_REMOTE_CACHE: url, TANREN_REMOTE_TOKEN: TOKEN, TANREN_REMOTE_WRITE: 'yes' });
  for (let round = 0; round < 3; round++) expect((await run(good, 'build')).exitCode).toBe(0);
  const files = readdirSync(good.folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile());
  expect(files.filter(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(TOKEN)).map(({ name }) => name)).toEqual([]);
  const expired = checkout(PIPELINE, { TANREN_REMOTE_CACHE: url, TANREN_REMOTE_TOKEN: 'an-expired-token' });
  const { exitCode, output } = await run(expired, 'build');
  expect(exitCode).toBe(0);
  expect(output.match(/warning\[remote-cache-failed\]/g)).toHaveLength(1);
  expect(output).not.toContain('an-expired-token');
  const needing = await run(expired, 'build', '--require-remote', '--remote-only');
  expect(needing.exitCode).not.toBe(0);
});

it('a cache that only the project names is not contacted until its origin is trusted', async () => {
  const url = `grpc://127.0.0.1:${server.port}/main`;
  const pipeline = `${PIPELINE}remote: {cache: "${url}"}\n`;
  const world = checkout(pipeline);
  expect(await run(world, 'build')).toMatchObject({ exitCode: 0, output: expect.stringContaining('warning[remote-untrusted]') });
  expect(server.calls).toEqual([]);
  world.write('settings/config.yaml', `origins:\n  grpc://127.0.0.1:${server.port}: {token: CACHE_TOKEN}\n`);
  expect(await run(world, 'build', '--force', '--remote-write', 'yes')).toMatchObject({ exitCode: 0 });
  expect([...server.tokens]).toEqual([`Bearer ${TOKEN}`]);
});

it('push sends what was built before, pull fetches what a build needs, and ping says what is there', async () => {
  const [first, second] = [checkout(), checkout()];
  expect((await run(first, 'build')).exitCode).toBe(0);
  for (const world of [first, second]) world.write('settings/config.yaml', settingsFor(server.port));
  expect(await run(first, 'cache', 'remote', 'ping')).toMatchObject({
    exitCode: 0,
    output: expect.stringMatching(/REAPI 2\.3, SHA-256, answered in/),
  });
  expect(await run(first, 'cache', 'remote', 'push')).toMatchObject({ exitCode: 0, output: expect.stringContaining('1 result in') });
  expect(await run(second, 'cache', 'remote', 'pull')).toMatchObject({
    exitCode: 0,
    output: expect.stringContaining('1 result in the local cache'),
  });
  await server.close();
  expect(await run(second, 'build')).toMatchObject({ exitCode: 0, output: expect.stringContaining('restored') });
});

it('push keeps results that differ from an earlier one of the same action', async () => {
  const world = checkout(PIPELINE.replace('cat text.txt > upper.txt', 'date +%N > upper.txt'));
  expect((await run(world, 'build')).exitCode).toBe(0);
  expect((await run(world, 'build', 'upper', '--force')).exitCode).toBe(0);
  world.write('settings/config.yaml', settingsFor(server.port));
  expect(await run(world, 'cache', 'remote', 'push')).toMatchObject({
    output: expect.stringContaining('not shared, because another run gave other bytes: upper'),
  });
  expect(server.results.size).toBe(0);
});

it('mistakes in the settings file are shown with their place', async () => {
  const world = checkout();
  world.write('settings/config.yaml', 'remote: {cahce: "https://a.example.com"}\n');
  const { exitCode, output } = await run(world, 'build');
  expect(exitCode).toBe(2);
  expect(output).toContain('settings/config.yaml:1:');
  expect(output).toContain('cahce');
});

describe('a build whose results do not go up', () => {
  const uploading = 'still going to the remote cache';
  const environmentFor = (port: number): NodeJS.ProcessEnv => ({
    TANREN_REMOTE_CACHE: `grpc://127.0.0.1:${port}`,
    TANREN_REMOTE_TOKEN: TOKEN,
    TANREN_REMOTE_WRITE: 'yes',
  });

  it('waits at most 5 s after Ctrl-C, and names what it dropped', async () => {
    const proxy = await startGrpcProxy(server.port, ({ method }) => (method === 'updateResult' ? { kind: 'hang' } : undefined));
    const build = checkout(PIPELINE, environmentFor(proxy.port)).start('build');
    await build.waitFor(uploading);
    const started = performance.now();
    build.signal('SIGINT');
    expect(await build.ended).toBe(130);
    // 5 s for the uploads, and the end of a process on a busy machine.
    expect(performance.now() - started).toBeLessThan(9_000);
    expect(performance.now() - started).toBeGreaterThan(4_500);
    expect(build.output()).toContain('not sent to the remote cache: the results of upper');
    expect(server.results.size).toBe(0);
    await proxy.close();
  });

  it('ends at once at a second Ctrl-C', async () => {
    const proxy = await startGrpcProxy(server.port, ({ method }) => (method === 'updateResult' ? { kind: 'hang' } : undefined));
    const world = checkout(PIPELINE, environmentFor(proxy.port));
    const build = world.start('build');
    await build.waitFor(uploading);
    build.signal('SIGINT');
    await build.waitFor('interrupt again');
    const started = performance.now();
    build.signal('SIGINT');
    expect(await build.ended).toBe(130);
    expect(performance.now() - started).toBeLessThan(2_500);
    await proxy.close();
    // The result is in the local cache.
    expect(await run(world, 'build', '--no-remote')).toMatchObject({
      exitCode: 0,
      output: expect.stringMatching(/nothing to do|up to date|restored/),
    });
  });

  it.each([
    ['the server takes no results', status.PERMISSION_DENIED],
    ['the server fails', status.UNAVAILABLE],
  ])('fails with --require-remote if %s, and only warns without it', async (_what, code) => {
    const proxy = await startGrpcProxy(server.port, ({ method }) => (method === 'updateResult' ? { kind: 'status', code } : undefined));
    const optional = await run(checkout(PIPELINE, environmentFor(proxy.port)), 'build');
    expect(optional).toMatchObject({ exitCode: 0, output: expect.stringContaining('warning[remote-cache-failed]') });
    const required = await run(checkout(PIPELINE, environmentFor(proxy.port)), 'build', '--require-remote');
    expect(required).toMatchObject({ exitCode: 1, output: expect.stringContaining('not sent to the remote cache: the results of upper') });
    await proxy.close();
  });
});

describe('build --check --from-clean with a remote cache', () => {
  const environment = (): NodeJS.ProcessEnv => ({
    TANREN_REMOTE_CACHE: `grpc://127.0.0.1:${server.port}`,
    TANREN_REMOTE_TOKEN: TOKEN,
    TANREN_REMOTE_WRITE: 'yes',
  });

  it('sends the results when all builds gave the same bytes, and compares with those that are there', async () => {
    const first = await run(checkout(PIPELINE, environment()), 'build', '--check', '--from-clean');
    expect(first).toMatchObject({ exitCode: 0, output: expect.stringContaining('✓ check upper: same bytes') });
    expect(server.results.size).toBe(1);
    const second = await run(checkout(PIPELINE, environment()), 'build', '--check', '--from-clean');
    expect(second).toMatchObject({ exitCode: 0, output: expect.stringContaining(`▸ a build from grpc://127.0.0.1:${server.port}`) });
    expect(second.output.match(/upper +restored .* from the remote cache/g)).toHaveLength(2);
  });

  it('sends nothing if they did not, and names the output', async () => {
    const pipeline = PIPELINE.replace('cat text.txt > upper.txt', 'pwd -P | sed s#/cache/.*## > upper.txt');
    const { exitCode, output } = await run(checkout(pipeline, environment()), 'build', '--check', '--from-clean');
    expect(exitCode).toBe(1);
    expect(output).toMatch(
      /error\[non-deterministic\]: upper: a clean build in another folder with 1 job gave different bytes\n {2}upper: differs/,
    );
    expect(server.results.size).toBe(0);
  });
});

it('pull fetches also where the settings say that builds take nothing', async () => {
  const [first, second] = [checkout(), checkout()];
  for (const world of [first, second]) world.write('settings/config.yaml', settingsFor(server.port));
  await run(first, 'build');
  second.write('settings/config.yaml', settingsFor(server.port).replace('write: true', 'read: false'));
  const pulled = await run(second, 'cache', 'remote', 'pull');
  expect(pulled).toMatchObject({ exitCode: 0, output: expect.stringContaining('1 result in the local cache') });
  expect(pulled.output).not.toContain('without a result');
});
