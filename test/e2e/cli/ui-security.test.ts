/** What a stranger may ask of `tanren ui`: nothing. Hostile pages, forged hosts, rebound names, wrong tokens, escaping paths, oversized requests. */
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { type CliWorld, givenProject, TEXT_PROJECT } from '../../support/cli-world.js';
import { findPage, type PageServer, pageAt } from '../../support/page-client.js';

const TREE = `version: 1
stages:
  tree: {uses: command, with: {run: [sh, -c, "mkdir out && echo in > out/in.txt"], outputs: {out: out}}}
`;

let world: CliWorld;
let page: PageServer;
beforeAll(async () => {
  world = givenProject({ ...TEXT_PROJECT, 'pipelines/tree.yaml': TREE, 'secret.txt': 'the treasure\n' });
  world.run('build');
  page = await findPage(world.start('ui', '--port', '0'));
});
afterAll(() => world.remove());

const readsNothing = ({ status, body }: { readonly status: number; readonly body: string }): void => {
  expect([401, 403, 404, 405, 400, 413, 414]).toContain(status);
  expect(body).not.toContain('shout');
  expect(body).not.toContain('treasure');
};

describe('the token', () => {
  const path = (): string => join(world.folder, 'cache/state/ui-access.json');

  it('is in a file that only its owner reads', () => {
    expect(statSync(path()).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['none', ''],
    ['an empty one', 'Bearer '],
    ['a wrong one', `Bearer ${'A'.repeat(43)}`],
    ['a very long one', `Bearer ${'A'.repeat(10_000)}`],
    ['another scheme', 'Basic QTpB'],
  ])('%s reads and starts nothing', async (_what, authorization) => {
    for (const name of ['pipeline', 'runs', 'stage?id=shout', 'log?id=shout', 'artifact?stage=shout&port=text', 'events'])
      readsNothing(await page.ask(`/api/${name}`, { headers: { authorization } }));
    const headers = { authorization, 'content-type': 'application/json' };
    readsNothing(await page.ask('/api/build', { method: 'POST', headers, body: '{}' }));
    readsNothing(await page.ask('/api/cancel', { method: 'POST', headers, body: '{}' }));
  });

  it('is not taken from the address or from a cookie', async () => {
    readsNothing(await page.ask(`/api/pipeline?token=${page.token}`, { headers: { authorization: '' } }));
    readsNothing(await page.ask('/api/pipeline', { headers: { authorization: '', cookie: `token=${page.token}` } }));
  });

  it('is never sent by the server, and no cookie is set', async () => {
    for (const at of ['/', '/runs', '/api/pipeline']) {
      const answer = await page.ask(at);
      expect(answer.body).not.toContain(page.token);
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
  });

  it('is replaced by `ui --new-token`, in the running server too', async () => {
    const other = world.start('ui', '--port', '0', '--new-token');
    const renewed = await findPage(other);
    expect(renewed.token).not.toBe(page.token);
    readsNothing(await page.ask('/api/pipeline'));
    const again = pageAt(page.port, renewed.token);
    expect((await again.ask('/api/pipeline')).status).toBe(200);
    other.signal('SIGINT');
    expect(await other.ended).toBe(130);
    page = again;
  });

  it('is replaced where other users could read it', async () => {
    chmodSync(path(), 0o644);
    const other = world.start('ui', '--port', '0');
    const renewed = await findPage(other);
    expect(other.output()).toContain('warning[ui-token-exposed]');
    expect(renewed.token).not.toBe(page.token);
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    other.signal('SIGTERM');
    expect(await other.ended).toBe(143);
    page = pageAt(page.port, renewed.token);
  });
});

describe('the sender', () => {
  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1',
    '0.0.0.0',
    '[::2]',
    '128.0.0.1',
  ])('with the host %j gets nothing, as after a name was bound to this machine', async host => {
    for (const at of ['/api/pipeline', '/', '/runs']) {
      const answer = await page.ask(at, { headers: { host } });
      readsNothing(answer);
      expect(answer.body).not.toContain('<html');
    }
  });

  it('without a host gets nothing', async () => {
    const answer = await new Promise<string>(resolve => {
      const socket = connect({ host: '127.0.0.1', port: page.port });
      let text = '';
      socket.setEncoding('utf8').on('data', piece => {
        text += piece;
      });
      socket.on('close', () => resolve(text));
      socket.write(`GET /api/pipeline HTTP/1.0\r\nAuthorization: Bearer ${page.token}\r\n\r\n`);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(answer).not.toContain('shout');
  });

  it.each([
    'localhost',
    'localhost:1234',
    '127.0.0.1',
    '127.9.9.9:80',
    '[::1]:8080',
    'tanren.localhost',
  ])('with the loopback name %s is answered, whatever the port, as ssh may forward another one', async host => {
    expect((await page.ask('/api/pipeline', { headers: { host } })).status).toBe(200);
  });

  it.each([
    ['another site', 'https://evil.example'],
    ['another port of this machine', 'http://127.0.0.1:1'],
    ['a page without an origin', 'null'],
    ['a secure page of this name', 'https://127.0.0.1'],
  ])('from %s reads and changes nothing, even with the token', async (_what, origin) => {
    readsNothing(await page.ask('/api/pipeline', { headers: { origin } }));
    const headers = { origin, 'content-type': 'application/json' };
    readsNothing(await page.ask('/api/build', { method: 'POST', headers, body: '{}' }));
  });

  it.each(['cross-site', 'same-site', 'none'])('whose browser says %s reads nothing', async site => {
    readsNothing(await page.ask('/api/pipeline', { headers: { 'sec-fetch-site': site } }));
  });

  it('gets no permission from a preflight request', async () => {
    const answer = await page.ask('/api/build', {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    });
    expect(answer.status).toBe(405);
    expect(Object.keys(answer.headers).filter(name => name.startsWith('access-control'))).toEqual([]);
  });

  it('can start nothing by a form', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
      readsNothing(await page.ask('/api/build', { method: 'POST', headers: { 'content-type': type }, body: '{}' }));
    expect((await page.ask('/api/build?targets=[]')).status).toBe(404);
  });

  it('on another interface of this machine is not reached', async () => {
    const outer = Object.values(networkInterfaces())
      .flatMap(list => list ?? [])
      .find(({ internal, family }) => !internal && family === 'IPv4');
    // A machine without a network has no other interface to try.
    const hosts = outer === undefined ? [] : [outer.address];
    for (const host of hosts) {
      const reached = await new Promise<boolean>(resolve => {
        const socket = connect({ host, port: page.port });
        socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
      });
      expect(reached).toBe(false);
    }
  });
});

describe('the answers', () => {
  it('may load only files of the page, may not be framed, and are not guessed', async () => {
    for (const at of ['/', '/api/pipeline', '/api/none', '/nothing.js']) {
      const { headers } = await page.ask(at);
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/unsafe|http|\*/);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['cross-origin-resource-policy']).toBe('same-origin');
      expect(headers['referrer-policy']).toBe('no-referrer');
    }
    const artifact = await page.ask('/api/artifact?stage=shout&port=text');
    expect(artifact.status).toBe(200);
    expect(artifact.headers['content-security-policy']).toBe("default-src 'none'; sandbox");
    expect(artifact.headers['content-disposition']).toBe('attachment');
  });

  it('of the page name no other server', async () => {
    const { body } = await page.ask('/');
    expect(body).not.toMatch(/https?:/);
    expect([...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, at]) => at?.startsWith('/'))).not.toContain(false);
  });
});

describe('a path', () => {
  let tree: PageServer;
  beforeAll(async () => {
    world.run('build', '-f', 'pipelines/tree.yaml');
    tree = await findPage(world.start('ui', 'pipelines/tree.yaml', '--port', '0'));
    const out = join(world.folder, 'artifacts/tree/tree/out');
    writeFileSync(join(world.folder, 'outside.txt'), 'the treasure\n');
    symlinkSync(join(world.folder, 'outside.txt'), join(out, 'link.txt'));
    symlinkSync(world.folder, join(out, 'folder'));
  });

  it('inside an output is served', async () => {
    expect((await tree.ask('/api/artifact?stage=tree&port=out&path=in.txt')).body).toBe('in\n');
    expect((await tree.ask('/api/artifact?stage=tree&port=out')).body).toContain('in.txt');
  });

  it.each([
    '../../../../secret.txt',
    '..',
    'in.txt/../../../../../secret.txt',
    '/etc/passwd',
    './in.txt',
    'in.txt/',
    'link.txt',
    'folder/secret.txt',
    '..\\secret.txt',
    'in.txt\0',
  ])('%j leaves the output and is refused', async inner => {
    const answer = await tree.ask(`/api/artifact?stage=tree&port=out&path=${encodeURIComponent(inner)}`);
    readsNothing(answer);
  });

  it.each(['../secret.txt', '..%2fsecret.txt', '__proto__', 'constructor'])('of a stage or port %j is refused', async name => {
    readsNothing(await tree.ask(`/api/artifact?stage=${name}&port=out`));
    readsNothing(await tree.ask(`/api/artifact?stage=tree&port=${name}`));
    readsNothing(await tree.ask(`/api/${name}`));
  });

  it.each([
    '/../package.json',
    '/assets/../../../package.json',
    '/%2e%2e/%2e%2e/package.json',
    '/assets/..%2f..%2f..%2fpackage.json',
    '//etc/passwd',
    '/index.html/x.js',
  ])('of a file of the page: %s is refused', async at => {
    const answer = await page.ask(at);
    expect(answer.body).not.toContain('"tanren"');
    expect(answer.body).not.toContain('root:');
    expect([400, 404]).toContain(answer.status);
  });

  it('that is an address of another server is refused, as the page is no proxy', async () => {
    expect((await page.ask('http://evil.example/api/pipeline')).status).toBe(400);
  });
});

describe('a request', () => {
  it('that is too large is refused, announced or not', async () => {
    const body = JSON.stringify({ targets: ['x'.repeat(400_000)] });
    const headers = { 'content-type': 'application/json' };
    expect((await page.ask('/api/build', { method: 'POST', headers, body })).status).toBe(413);
    const chunked = await page
      .ask('/api/build', { method: 'POST', headers: { ...headers, 'transfer-encoding': 'chunked' }, body })
      .catch(() => undefined);
    expect([413, undefined]).toContain(chunked?.status);
    expect((await page.ask(`/api/pipeline?x=${'y'.repeat(9_000)}`)).status).toBe(414);
    expect((await page.ask(`/api/pipeline?x=${'y'.repeat(30_000)}`)).status).toBe(431);
    expect((await page.ask('/api/pipeline')).status).toBe(200);
  });

  it.each([
    '',
    '[]',
    'null',
    '{',
    '{"targets": "shout"}',
    '{"targets": ["no-such-stage"]}',
    '{"targets": [1]}',
    '{"targets": ["--force"]}',
  ])('with the body %j starts nothing', async body => {
    const answer = await page.ask('/api/build', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body).error.code).toBe('ui-bad-request');
  });
});

describe('a read-only page', () => {
  it('shows everything and changes nothing', async () => {
    const readOnly = await findPage(world.start('ui', '--port', '0', '--read-only'));
    expect((await readOnly.ask('/api/pipeline')).status).toBe(200);
    for (const name of ['build', 'prepare', 'cancel']) {
      const answer = await readOnly.post(name, {});
      expect([answer.status, JSON.parse(answer.body).error.code]).toEqual([403, 'ui-read-only']);
    }
  });
});

describe('a file in the place of the token', () => {
  it.each(['', 'x', '{}', '{"token": 1}', '{"token": "short"}'])('with the content %j is replaced by a token', async text => {
    const other = givenProject(TEXT_PROJECT);
    mkdirSync(join(other.folder, 'cache/state'), { recursive: true });
    writeFileSync(join(other.folder, 'cache/state/ui-access.json'), text, { mode: 0o600 });
    const found = await findPage(other.start('ui', '--port', '0'));
    expect(JSON.parse(readFileSync(join(other.folder, 'cache/state/ui-access.json'), 'utf8'))).toEqual({ token: found.token });
    other.remove();
  });
});
