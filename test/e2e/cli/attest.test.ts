/** Attestations of a pipeline: complete provenance, equal bytes for equal results, and every change of a file or a statement is found. */
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { type CliWorld, givenProject } from '../../support/cli-world.js';

const PIPELINE = `version: 1
sources: {text: text.txt}
stages:
  copy:
    uses: command
    with: {shell: sh, run: ["cp in.txt out.txt"], inputs: {text: in.txt}, outputs: {text: {path: out.txt, kind: file}}, tools: [cp]}
    inputs: {text: "\${sources.text}"}
  fold:
    uses: command
    with: {shell: sh, run: ["mkdir -p all/deep && cp in.txt all/deep/a && ln -s a all/deep/b"], inputs: {text: in.txt}, outputs: {all: {path: all, kind: folder}}}
    inputs: {text: copy.text}
`;

interface Statement {
  readonly subject: readonly { readonly name: string; readonly digest: Readonly<Record<string, string>> }[];
  readonly predicate: {
    readonly buildDefinition: { readonly resolvedDependencies: readonly { readonly name: string; readonly digest: object }[] };
  };
}

describe('attest', () => {
  let world: CliWorld;
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const other = generateKeyPairSync('ed25519');
  beforeEach(() => {
    world = givenProject({
      'pipeline.yaml': PIPELINE,
      'text.txt': 'one\n',
      'own.key': privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      'own.pub': publicKey.export({ type: 'spki', format: 'pem' }) as string,
      'other.pub': other.publicKey.export({ type: 'spki', format: 'pem' }) as string,
    });
    expect(world.run('build')).toMatchObject({ exitCode: 0 });
  });
  afterEach(() => world.remove());

  const attest = (...args: readonly string[]) => {
    const result = world.run('attest', '-o', 'a.jsonl', ...args);
    expect([result.exitCode, result.stderr]).toEqual([0, '']);
    return world.read('a.jsonl').trim().split('\n');
  };
  const verify = (...args: readonly string[]) => world.run('verify-attestation', 'a.jsonl', ...args);

  it('states outputs, inputs, programs and code of each stage, with digests that sha256sum confirms', () => {
    const statements = attest().map(line => JSON.parse(line) as Statement);
    expect(statements).toMatchObject([
      { _type: 'https://in-toto.io/Statement/v1', predicateType: 'https://slsa.dev/provenance/v1' },
      { subject: [{ name: 'artifacts/fold/all/' }] },
    ]);
    const [{ subject = [], predicate } = {}] = statements;
    const sum = spawnSync('sha256sum', [`${world.folder}/${subject[0]?.name}`], { encoding: 'utf8' }).stdout.split(' ')[0];
    expect(subject[0]?.digest).toEqual({ sha256: sum });
    const source = spawnSync('sha256sum', [`${world.folder}/text.txt`], { encoding: 'utf8' }).stdout.split(' ')[0];
    expect(predicate?.buildDefinition.resolvedDependencies).toEqual([
      { name: 'input:text', digest: { sha256: source }, annotations: { source: 'text.txt' } },
      { name: 'plugin:command', digest: { tanrenCode: expect.stringMatching(/^[0-9a-f]{64}$/) } },
      { name: 'tool:cp', digest: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
      { name: 'tool:sh', digest: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
    ]);
    expect(verify()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('2 statements') });
    expect(attest()).toEqual(statements.map(statement => JSON.stringify(statement)));
  });

  it('signs with the key that signs results, and only what a trusted key has signed counts', () => {
    attest('--sign', 'own.key');
    expect(verify('--key', 'own.pub')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(verify('--key', 'other.pub', '--key', 'own.pub')).toMatchObject({ exitCode: 0 });
    expect(verify('--key', 'other.pub')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no key that you trust') });
    expect(verify()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('signatures are not checked') });
    attest();
    expect(verify('--key', 'own.pub')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('it is not signed') });
  });

  it('finds every kind of change', () => {
    const [first = '', second = ''] = attest();
    const expectFound = (text: string, found: string): void => {
      world.write('a.jsonl', text);
      expect(verify()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(found) });
    };
    expectFound(`${second}\n`, 'copy has no attestation here');
    expectFound(`${first.replaceAll('cp in.txt', 'mv in.txt')}\n${second}\n`, 'its action key is');
    const edited = JSON.parse(first) as { predicate: { buildDefinition: { resolvedDependencies: unknown[] } } };
    edited.predicate.buildDefinition.resolvedDependencies.pop();
    expectFound(`${JSON.stringify(edited)}\n${second}\n`, 'its dependencies are not those of its manifest');
    const digest = (JSON.parse(first) as Statement).subject[0]?.digest.sha256 ?? '';
    expectFound(
      `${first.replace(`"subject":[{"digest":{"sha256":"${digest}"`, `"subject":[{"digest":{"sha256":"${'0'.repeat(64)}"`)}\n${second}\n`,
      'is not what copy made',
    );
    expectFound(`${first.replaceAll('artifacts/copy', '../artifacts/copy')}\n`, 'not a path inside the folder');
    expectFound('{}\n', 'it is not a statement');
    expectFound('[[[[\n', 'it is not a JSON object');
    expectFound('\n', 'it holds no attestation');
    expectFound(
      `{"payload":"####","payloadType":"application/vnd.in-toto+json","signatures":[{"sig":"####"}]}\n`,
      'its payload is not JSON',
    );
    const withManifest = (change: string): string => first.replace('"manifest":{', `"manifest":{${change},`);
    expectFound(
      withManifest(`"a":${'['.repeat(200_000)}${']'.repeat(200_000)}`),
      'a.jsonl:1: error[attestation-wrong]: it is nested more than',
    );
    expectFound(withManifest('"a":1e999'), 'it holds a number that is too large');
    expectFound(first.replace('"tools":{', '"tools":{"a":{"toString":1},'), 'its dependencies are not those of its manifest');
    expectFound(first.replaceAll('artifacts/copy', 'artifacts/\\u0000copy'), 'not a path inside the folder');
    expectFound(first.replaceAll('artifacts/copy', `artifacts/${'x'.repeat(300)}`), 'cannot be read: ');
    expectFound(`{}\n${first}\n`, 'a.jsonl:1: ');
    world.write(
      'a.jsonl',
      `${first.replaceAll('"copy"', '"\\u001b]0;title\\u0007"').replaceAll('artifacts/copy', `artifacts/${'y'.repeat(100_000)}`)}\n`,
    );
    const { stderr } = verify();
    expect(stderr).toMatch(/^[\P{Cc}\n]*$/u);
    expect(stderr.length).toBeLessThan(10_000);
    world.write('a.jsonl', `${first}\n${second}\n`);
    world.unlink('artifacts/fold/all/deep/b');
    expect(verify()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('artifacts/fold/all/ has the digest') });
    world.unlink('artifacts/copy/text');
    world.write('artifacts/copy/text', 'two\n');
    expect(verify()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('artifacts/copy/text has the digest') });
  });

  it('joins the stages of one pipeline: two pipelines in one file may have stages of equal names', () => {
    world.write('other.yaml', PIPELINE.replace('text.txt', 'other.txt'));
    world.write('other.txt', 'other\n');
    expect(world.run('build', '-f', 'other.yaml')).toMatchObject({ exitCode: 0 });
    const own = attest();
    const others = attest('-f', 'other.yaml');
    world.write('a.jsonl', `${[...own, ...others].join('\n')}\n`);
    expect(verify()).toMatchObject({ exitCode: 0, stderr: '' });
    world.write('a.jsonl', `${[own[1], ...others].join('\n')}\n`);
    expect(verify()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('copy has no attestation here') });
  });

  it('attests only what is up to date', () => {
    world.write('text.txt', 'changed\n');
    expect(world.run('attest')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/error\[attest-outdated\]: copy[\s\S]*--download all/),
    });
    expect(world.exists('attestation.intoto.jsonl')).toBe(false);
    expect(world.run('verify-attestation', '/dev/zero')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('error[attestation-unreadable]: /dev/zero cannot be read: it has more than 268435456 bytes'),
    });
    expect(world.run('verify-attestation', 'none.jsonl')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('error[attestation-unreadable]'),
    });
  });
});
