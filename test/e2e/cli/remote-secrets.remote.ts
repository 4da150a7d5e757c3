/** After a build with a token, a signing key and a secret: none of them is in any file of the project, on the server, or in any line. */
import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { type FakeServer, type FakeServerOptions, startFakeServer } from '../../support/remote/fake-grpc-server.js';
import { createFakeWorker } from '../../support/remote/fake-worker.js';
import { type GrpcProxy, type MethodName, startGrpcProxy } from '../../support/remote/grpc-proxy.js';

const TOKEN = 'a-token-that-nobody-else-has';
const SECRET = 'a-secret-of-one-stage';
const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const KEY = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;

/** A plugin with parts, one per line, so that there are packs. */
const PARTS = `import { readFileSync, writeFileSync } from 'node:fs';
export const line = {
  name: 'line', version: 1, module: import.meta.url, runsModels: 'never',
  async run({ manifest, folder }) { writeFileSync(folder + '/text', manifest.text.toUpperCase()); return ['text']; },
};
const file = { kind: 'file', optional: false, entries: undefined, entryKinds: {}, description: '' };
export default {
  name: 'lines', version: 1, description: '', params: { type: 'object' }, inputs: { text: file }, outputs: { text: file },
  determinism: 'exact', runsModels: 'never',
  async run({ inputs, outputs, context }) {
    const found = [];
    for (const text of readFileSync(inputs.text, 'utf8').split('\\n')) {
      const { files } = await context.memo(line, { manifest: { text }, blobs: {} });
      found.push(readFileSync(files.text, 'utf8'));
    }
    writeFileSync(outputs.text, found.join('\\n'));
  },
};
`;

const PIPELINE = `version: 1
sources: {text: source.txt}
plugins: {lines: ./parts.mjs}
stages:
  lines: {uses: lines, inputs: {text: "\${sources.text}"}}
  printing:
    uses: command
    with: {shell: sh, run: ["echo the secret is $SECRET; echo $SECRET >&2; cat in > out"], inputs: {text: in}, outputs: {text: out}}
    secrets: [SECRET]
    inputs: {text: lines.text}
  failing:
    uses: command
    with: {shell: sh, run: ["echo no access with $SECRET >&2; exit 3"], inputs: {text: in}, outputs: {text: out}}
    secrets: [SECRET]
    inputs: {text: lines.text}
`;

let server: FakeServer;
let world: CliWorld;
beforeEach(async () => {
  server = await startFakeServer({ token: TOKEN });
  const url = `grpc://127.0.0.1:${server.port}`;
  world = givenProject(
    {
      'pipeline.yaml': PIPELINE,
      'parts.mjs': PARTS,
      'source.txt': Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\n'),
      'settings/own.key': KEY,
      'settings/own.pub': publicKey.export({ type: 'spki', format: 'pem' }) as string,
      'settings/config.yaml': `remote: {cache: "${url}/main", write: true, sign: own.key, trust: [own.pub]}\norigins:\n  ${url}: {token: CACHE_TOKEN}\n`,
    },
    { TANREN_CONFIG: 'settings/config.yaml', CACHE_TOKEN: TOKEN, SECRET },
  );
});
afterEach(async () => {
  world.remove();
  await server.close();
});

/** Texts that must be nowhere. A key is recognized by its bytes. */
const HIDDEN: readonly string[] = [
  TOKEN,
  Buffer.from(TOKEN).toString('base64'),
  SECRET,
  Buffer.from(SECRET).toString('base64'),
  KEY.split('\n')[1] ?? '',
];

function holders(texts: Iterable<readonly [string, string]>): readonly string[] {
  return [...texts].flatMap(([name, text]) => HIDDEN.flatMap(hidden => (text.includes(hidden) ? [`${name}: ${hidden}`] : [])));
}

async function run(...args: readonly string[]): Promise<readonly [string, string]> {
  const process = world.start(...args);
  await process.ended;
  return [args.join(' '), process.output()];
}

it('is kept by every command, in every file, and on the server', async () => {
  const said = [
    await run('build', '--keep-going'),
    await run('build', '--keep-going', '--json'),
    await run('build', 'printing', '--report', 'json=report.json'),
    await run('build', 'printing'),
    await run('attest', 'lines'),
    await run('cache', 'remote', 'push'),
    await run('cache', 'remote', 'ping', '--json'),
    await run('cache', 'export', 'all.tanren', '--all'),
    await run('log', 'printing'),
    await run('log', 'failing'),
    await run('explain', 'failing'),
    await run('profile'),
    await run('history', '--json'),
  ];
  expect(said.map(([, output]) => output).join('\n')).toContain('the secret is ***');
  expect(server.tokens).toEqual(new Set([`Bearer ${TOKEN}`]));
  // There is something to search: parts in packs, a signed result, records, logs, history, an archive.
  const content = [...server.blobs.values(), ...server.results.values()].map(bytes => Buffer.from(bytes).toString('latin1'));
  expect(content.filter(text => text.startsWith('tanren-pack'))).toHaveLength(1);
  expect(content.filter(text => text.includes('tanren-signature 1'))).not.toHaveLength(0);
  const files = readdirSync(world.folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name !== 'own.key')
    .map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), 'latin1')] as const);
  const searched = ['cache/cas', 'cache/logs', 'cache/history', 'all.tanren', 'attestation.intoto.jsonl', 'report.json'];
  expect(searched.filter(part => !files.some(([path]) => path.includes(part)))).toEqual([]);
  expect(holders(said)).toEqual([]);
  expect(holders(files)).toEqual([]);
  expect(holders(content.map((text, index) => [`content ${index}`, text]))).toEqual([]);
});

describe('a server that repeats what it was sent', () => {
  const options: FakeServerOptions = { token: TOKEN };
  let proxy: GrpcProxy;
  /** @param method whose answers are errors; undefined: those of all. */
  const repeats = async (method: MethodName | undefined): Promise<void> => {
    await server.close();
    server = await startFakeServer(options);
    proxy = await startGrpcProxy(server.port, message =>
      method === undefined || message.method === method
        ? { kind: 'status', code: 16, details: `no rights for Bearer ${TOKEN}` }
        : undefined,
    );
    const url = `grpc://127.0.0.1:${proxy.port}`;
    world.write('settings/config.yaml', `remote: {cache: "${url}"}\norigins:\n  ${url}: {token: CACHE_TOKEN}\n`);
  };
  afterEach(async () => {
    delete options.worker;
    await proxy.close();
  });

  it('is in no message of a build', async () => {
    await repeats(undefined);
    const said = await run('build', 'lines');
    expect(said[1]).toContain('remote-cache-failed');
    expect(holders([said])).toEqual([]);
  });

  it('is in no message of cache remote', async () => {
    await run('build', 'lines');
    await repeats(undefined);
    const said = await Promise.all(['ping', 'push', 'pull'].map(command => run('cache', 'remote', command)));
    for (const [, output] of said) expect(output).toContain('no rights for Bearer ***');
    expect(holders(said)).toEqual([]);
  });

  it('is in no message and no log of stages that it should have run', async () => {
    options.worker = createFakeWorker();
    await repeats('execute');
    world.write(
      'pipeline.yaml',
      PIPELINE.replace(
        / {2}printing:[\s\S]*/,
        '  copy: {uses: command, with: {shell: sh, run: ["cat in > out"], inputs: {text: in}, outputs: {text: out}}, inputs: {text: lines.text}}\n',
      ),
    );
    const said = [
      await run('build', 'copy', '--executor', 'remote', '--keep-going'),
      await run('build', 'copy', '--executor', 'auto'),
      await run('log', 'copy'),
    ];
    expect(said[1]?.[1]).toContain('no rights for Bearer ***');
    expect(said[0]?.[1]).toContain('no rights for Bearer ***');
    const files = readdirSync(join(world.folder, 'cache'), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), 'latin1')] as const);
    expect(holders(said)).toEqual([]);
    expect(holders(files)).toEqual([]);
  });
});
