/** What a stage can do that it has not declared, in the sandbox and under --strict. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expectGone } from '../../scenarios/scene.js';
import { type CliResult, type CliWorld, givenProject } from '../../support/cli-world.js';
import { describeWith, noSandbox, noStrace } from '../../support/guards.js';

let project: CliWorld;
beforeAll(() => {
  project = givenProject({
    'text.txt': 'iron\n',
    'secret.txt': 'not declared\n',
    'more/listed.txt': '',
    'bin/forge': '#!/bin/sh\necho forged > out.txt\n',
    'odd/na "me>\n\t\\ é.txt': 'x',
    'plugins/worker.mjs': worker(`
      const seen = [readFileSync(inputs.text, 'utf8').trim(), existsSync('PROJECT/secret.txt'), existsSync('${homedir()}/.profile')];
      let end = 'written';
      try { writeFileSync(inputs.text, 'overwritten'); } catch (error) { end = error.code; }
      writeFileSync(outputs.text, [...seen, end].join());`),
    'plugins/reader.mjs': worker("writeFileSync(outputs.text, readFileSync('PROJECT/secret.txt')); readFileSync(inputs.text);"),
  });
  for (const name of ['worker', 'reader']) {
    project.write(`plugins/${name}.mjs`, project.read(`plugins/${name}.mjs`).replaceAll('PROJECT', project.folder).replace('NAME', name));
  }
  chmodSync(join(project.folder, 'bin/forge'), 0o755);
  mkdirSync(join(project.folder, 'links'));
  symlinkSync('../bin/forge', join(project.folder, 'links/hammer'));
});
afterAll(() => project.remove());

function worker(run: string): string {
  return `import { existsSync, readFileSync, writeFileSync } from 'node:fs';
const file = { kind: 'file', optional: false, entries: undefined, entryKinds: {}, description: '' };
export default {
  name: 'NAME', version: 1, description: '', params: { type: 'object' }, inputs: { text: file }, outputs: { text: file },
  determinism: 'exact', runsModels: 'never', async run({ inputs, outputs }) { ${run} } };`;
}

/** A stage per script, which reads text.txt as in.txt and writes out.txt; PROJECT in it stands for the project's folder. */
function stages(scripts: Readonly<Record<string, string>>, more = ''): void {
  const each = Object.entries(scripts).map(([name, script]) => {
    const [rest = '', network] = script.split(' ; network');
    const [run, tools] = rest.split(' ; tools: ');
    return `  ${name}:
    uses: command
    with: {run: [${JSON.stringify(run)}], shell: sh, inputs: {text: in.txt}, outputs: {text: out.txt}${tools === undefined ? '' : `, tools: [${tools}]`}}
    inputs: {text: "\${sources.text}"}
${network === undefined ? '' : '    network: allowed\n'}`;
  });
  const text = `version: 1\nsources: {text: text.txt}\nplugins: {worker: ./plugins/worker.mjs, reader: ./plugins/reader.mjs}\nstages:\n${each.join('')}${more}`;
  project.write('pipeline.yaml', text.replaceAll('PROJECT', project.folder));
}

const result = (stage: string): string => project.read(`artifacts/${stage}/text`);
const linesOf = (text: string): readonly string[] => text.split('\n').filter(line => line !== '');

interface Failure {
  readonly code: string;
  readonly details: { readonly reads: readonly string[]; readonly writes: readonly string[] };
}

/** Builds all of it; gives each stage's failure, or how it ended. */
function buildAll(...args: readonly string[]): Readonly<Record<string, Failure | string>> {
  const { stdout } = project.run('build', '--keep-going', '--json', ...args);
  const report = JSON.parse(stdout) as { readonly stages: readonly { stage: string; outcome: { kind: string; failure?: Failure } }[] };
  return Object.fromEntries(report.stages.map(({ stage, outcome }) => [stage, outcome.failure ?? outcome.kind]));
}

const undeclared = (kind: 'reads' | 'writes', paths: readonly string[]): unknown =>
  expect.objectContaining({ details: expect.objectContaining({ [kind]: paths.map(path => join(project.folder, path)) }) });

describeWith(noSandbox)('the sandbox', () => {
  let ends: ReturnType<typeof buildAll>;
  let visits = 0;
  beforeAll(async () => {
    const server = createServer(socket => {
      visits++;
      socket.end();
    }).listen(0, '127.0.0.1');
    await new Promise(resolve => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    stages(
      {
        see: `cat in.txt > out.txt; id -u >> out.txt; pwd >> out.txt; for path in PROJECT/text.txt PROJECT/artifacts ${homedir()}/.profile /home/*; do test -e $path && echo "sees $path" >> out.txt; done; ls PROJECT >> out.txt`,
        write:
          'echo ok > out.txt; echo x > PROJECT/text.txt; for path in /usr /etc / /opt PROJECT PROJECT/artifacts; do touch $path/tanren-was-here && echo "wrote $path" >> out.txt; done; touch /tmp/tanren-was-here /var/tmp/tanren-was-here /dev/shm/tanren-was-here && echo own >> out.txt',
        escape:
          'cat in.txt > out.txt; mount -o remount,rw /usr; umount /etc/passwd; unshare --user --map-root-user --mount sh -c "mount -o remount,bind,rw /usr; touch /usr/tanren-was-here; umount -l /usr; ls PROJECT/text.txt && echo free >> out.txt"; true',
        online: `node -e "require('net').connect(${port},'127.0.0.1').on('connect',()=>process.exit())"; echo > out.txt ; network`,
        net: `ls /proc | grep -c "^[0-9]" > out.txt; node -e "require('net').connect(${port},'127.0.0.1').on('connect',()=>process.exit()).on('error',error=>console.log(error.code))" >> out.txt`,
        tool: 'PROJECT/links/hammer ; tools: links/hammer',
        notool: 'PROJECT/links/hammer',
        environment: 'env | sort | sed "s#/run-[0-9a-f]*/#/run/#" > out.txt',
        background: 'sleep 1000 & echo > out.txt',
      },
      '  worker: {uses: worker, inputs: {text: "${sources.text}"}}\n',
    );
    ends = buildAll('--sandbox');
    // Whoever came meanwhile is let in now.
    await new Promise(resolve => setTimeout(resolve, 50));
    server.close();
  });

  it('shows a program only its inputs, its folder and the system, without the rest of the project or the home folder', () => {
    const [text, uid, folder, ...rest] = linesOf(result('see'));
    expect([text, uid, rest]).toEqual(['iron', String(process.getuid?.()), ['cache']]);
    expect(folder).toMatch(/\/cache\/tmp\/run-[0-9a-f]+\/scratch\/work$/);
  });

  it('allows writes only into its folder and its own /tmp', () => {
    expect(result('write')).toBe('ok\nown\n');
    expect(project.read('text.txt')).toBe('iron\n');
    for (const folder of [tmpdir(), '/tmp', '/var/tmp', '/dev/shm', '/usr', '/etc', '/', project.folder])
      expect(existsSync(join(folder, 'tanren-was-here'))).toBe(false);
  });

  it('cannot be left from within', () => {
    expect(result('escape')).toBe('iron\n');
    expect(existsSync('/usr/tanren-was-here')).toBe(false);
  });

  it('has no other processes, and no network unless the stage declares it', () => {
    const [processes, network] = linesOf(result('net'));
    expect(Number(processes)).toBeLessThan(8);
    expect([network, ends.online, visits]).toEqual(['ENETUNREACH', 'executed', 1]);
  });

  it('runs the declared tools from any folder and through links', () => {
    expect(result('tool')).toBe('forged\n');
    expect(ends.notool).toMatchObject({ code: 'command-failed' });
  });

  it('gives the same environment, keys and bytes as a build without it', () => {
    const inside = result('environment');
    expect(buildAll()).toMatchObject({ see: 'up-to-date', environment: 'up-to-date', worker: 'up-to-date' });
    buildAll('environment', '--force');
    expect(result('environment')).toBe(inside);
  });

  it('also contains workers: read-only inputs, code and packages, and nothing else', () => {
    expect(result('worker')).toBe('iron,false,false,EROFS');
  });

  it('leaves nothing behind', () => {
    expect(ends.background).toBe('executed');
    expect(project.listing().filter(line => /cache\/tmp\/./.test(line))).toEqual([]);
  });

  it('ends with a build that is cancelled', async () => {
    stages({ long: 'echo started; sleep 1000' });
    const running = project.start('build', '--sandbox', '--strict');
    await logOf('long');
    running.signal('SIGINT');
    expect(await running.ended).toBe(130);
    expect(project.listing().filter(line => /cache\/tmp\/./.test(line))).toEqual([]);
  });
});

/** The log of a stage, once it says something. */
async function logOf(stage: string): Promise<string> {
  const path = join(project.folder, `cache/logs/pipeline/${stage}.log`);
  while (!existsSync(path) || statSync(path).size === 0) await new Promise(resolve => setTimeout(resolve, 10));
  return readFileSync(path, 'utf8');
}

const SHARED_MEMORY = '/dev/shm';
const noSharedMemory = existsSync(SHARED_MEMORY) ? undefined : `${SHARED_MEMORY} is missing`;

/** A project in shared memory with one stage that runs `script`, a file beside the project, and what a build with `flag` gives. */
function buildInSharedMemory(script: (folder: string, stray: string) => string, flag: string) {
  const folder = mkdtempSync(join(SHARED_MEMORY, 'tanren-guard-'));
  const stray = join(SHARED_MEMORY, basename(folder).replace('guard', 'stray'));
  writeFileSync(stray, '');
  try {
    writeFileSync(join(folder, 'text.txt'), 'iron\n');
    const command = { run: [script(folder, stray)], shell: 'sh', inputs: { text: 'in.txt' }, outputs: { text: 'out.txt' } };
    const stages = { see: { uses: 'command', with: command, inputs: { text: '${sources.text}' } } };
    writeFileSync(join(folder, 'pipeline.yaml'), JSON.stringify({ version: 1, sources: { text: 'text.txt' }, stages }));
    const { exitCode, stdout, stderr } = project.with({ folder }).run('build', flag);
    const artifact = join(folder, 'artifacts/see/text');
    return {
      exitCode,
      output: stdout + stderr,
      text: existsSync(artifact) ? readFileSync(artifact, 'utf8') : undefined,
      strays: existsSync(`${stray}-own`),
    };
  } finally {
    for (const path of [folder, stray]) rmSync(path, { recursive: true });
  }
}

describeWith(noSandbox ?? noSharedMemory)('a sandboxed project in shared memory', () => {
  it('builds, and its programs see no other file there', () => {
    const see = (folder: string, stray: string): string =>
      `cat in.txt > out.txt; for path in ${stray} ${folder}/text.txt; do test -e $path && echo "sees $path" >> out.txt; done; touch ${stray}-own && echo own >> out.txt`;
    expect(buildInSharedMemory(see, '--sandbox')).toMatchObject({ exitCode: 0, text: 'iron\nown\n', strays: false });
  });
});

describeWith(noStrace ?? noSharedMemory)('--strict for a project in shared memory', () => {
  it('names what is read besides in the project, and nothing of the system', () => {
    const declared = buildInSharedMemory((_, stray) => `cat in.txt ${stray} > out.txt`, '--strict');
    expect(declared).toMatchObject({ exitCode: 0, text: 'iron\n' });
    const besides = buildInSharedMemory(folder => `cat in.txt ${folder}/text.txt > out.txt`, '--strict');
    expect(besides).toMatchObject({ exitCode: 1, output: expect.stringMatching(/undeclared-read.*\n\s*text\.txt/) });
  });
});

describe('a machine without sandbox support', () => {
  const withTools = (...names: readonly string[]): CliResult => {
    const tools = join(project.folder, 'only');
    mkdirSync(tools, { recursive: true });
    for (const name of names) {
      const from = ['/usr/bin', '/bin'].map(folder => join(folder, name)).find(path => existsSync(path)) ?? process.execPath;
      if (!existsSync(join(tools, name))) symlinkSync(from, join(tools, name));
    }
    return project.with({ environment: { PATH: tools } }).run('build', '--strict', '--force');
  };

  it('refuses --sandbox with an error instead of building without it', () => {
    stages({ one: 'cp in.txt out.txt' });
    // Whether there is one depends on more than what a test can change: this machine's answer is the one that is tested.
    const { exitCode, stderr } = project.run('build', '--sandbox');
    expect(exitCode).toBe(noSandbox === undefined ? 0 : 2);
    expect(stderr.includes('error[sandbox-unavailable]')).toBe(noSandbox !== undefined);
  });

  it('uses the sandbox for --strict if strace is missing, and reports it', () => {
    stages({ one: 'cp in.txt out.txt ; tools: cp' });
    const { exitCode, stderr } = withTools('sh', 'cp');
    expect(exitCode).toBe(noSandbox === undefined ? 0 : 2);
    expect(stderr).toContain(
      noSandbox === undefined ? 'warning[strict-by-sandbox]: strace cannot trace here' : 'error[strict-unavailable]',
    );
  });
});

const READS: readonly (readonly [string, string, readonly string[]])[] = [
  ['a file of the project', 'cat PROJECT/secret.txt > out.txt', ['secret.txt']],
  ['by a relative path', 'cat ../../../../../secret.txt > out.txt', ['secret.txt']],
  ['after changing the folder', '(cd PROJECT; cat secret.txt) > out.txt', ['secret.txt']],
  ['through a link that it made', 'ln -s PROJECT/secret.txt l; cat l > out.txt', ['secret.txt']],
  ['a listing of a folder', 'ls PROJECT/more > out.txt', ['more']],
  [
    'by a program of its own',
    "node -e \"require('fs').readFileSync('PROJECT/secret.txt')\"; cp in.txt out.txt ; tools: node",
    ['secret.txt'],
  ],
  ['a program', 'PROJECT/bin/forge', ['bin/forge']],
  ['the source itself, not its copy', 'cat PROJECT/text.txt > out.txt', ['text.txt']],
  ['with any characters in its name', 'cat PROJECT/odd/* > out.txt', ['odd', 'odd/na "me>\n\t\\ é.txt']],
];
const WRITES: readonly (readonly [string, string, readonly string[]])[] = [
  ['a new file', 'echo > PROJECT/new.txt', ['new.txt']],
  ["another stage's output", 'echo > PROJECT/artifacts/other/text', ['artifacts/other/text']],
  ['a folder', 'mkdir PROJECT/folder', ['folder']],
  ['a removal', 'rm PROJECT/away.txt', ['away.txt']],
  ['a rename', 'mv PROJECT/here.txt PROJECT/there.txt', ['here.txt', 'there.txt']],
  ['a mode', 'chmod 700 PROJECT/secret.txt', ['secret.txt']],
  ['through a link to a folder', 'ln -s PROJECT l; rm l/gone.txt', ['gone.txt']],
  ['a hard link', 'ln out.txt PROJECT/hard.txt', ['hard.txt']],
  ['a time', 'touch -d 2001-01-01 PROJECT/secret.txt', ['secret.txt']],
  ['the store', 'chmod 700 PROJECT/cache/state', ['cache/state']],
];

describeWith(noStrace)('--strict', () => {
  let ends: ReturnType<typeof buildAll>;
  beforeAll(() => {
    for (const name of ['away.txt', 'here.txt', 'gone.txt', 'artifacts/other/text']) project.write(name, 'x');
    stages(
      {
        good: 'cp in.txt $TMPDIR/x; mkdir -p a/b; mv $TMPDIR/x a/b/x; sort a/b/x | awk "{print}" > out.txt; ls -la /proc/self > /dev/null; rm -r a; ln -s out.txt l; cat l > /dev/null',
        tool: 'PROJECT/links/hammer ; tools: links/hammer',
        ...Object.fromEntries(READS.map(([, script], i) => [`read${i}`, script])),
        ...Object.fromEntries(WRITES.map(([, script], i) => [`write${i}`, `cp in.txt out.txt; ${script}`])),
      },
      '  reader: {uses: reader, inputs: {text: "${sources.text}"}}\n',
    );
    ends = buildAll('--strict', '--force');
  });

  it('accepts reads of declared inputs, its folder, TMPDIR, its tools and the system', () => {
    expect([ends.good, ends.tool]).toEqual(['executed', 'executed']);
  });

  it.each(
    READS.map(([what, , paths], i) => [what, `read${i}`, paths] as const),
  )('names what is read besides: %s', (_what, stage, paths) => {
    expect(ends[stage]).toMatchObject({ code: 'undeclared-read' });
    expect(ends[stage]).toEqual(undeclared('reads', paths));
    expect(project.exists(`artifacts/${stage}`)).toBe(false);
  });

  it.each(
    WRITES.map(([what, , paths], i) => [what, `write${i}`, paths] as const),
  )('names what is written besides: %s', (_what, stage, paths) => {
    expect(ends[stage]).toMatchObject({ code: 'undeclared-write' });
    expect(ends[stage]).toEqual(undeclared('writes', paths));
    expect(project.exists(`artifacts/${stage}`)).toBe(false);
  });

  it('watches workers too', () => {
    expect(ends.reader).toMatchObject({ code: 'undeclared-read' });
    expect(ends.reader).toEqual(undeclared('reads', ['secret.txt']));
  });

  it('with --check also checks stages that have a result', () => {
    stages({ checked: 'cat in.txt PROJECT/secret.txt > out.txt' });
    expect(buildAll()).toEqual({ checked: 'executed' });
    const { exitCode, stdout } = project.run('build', '--strict', '--check');
    expect(exitCode).toBe(1);
    expect(stdout).toContain('error[undeclared-read]: checked: the stage read files that it does not declare:\n  secret.txt');
  });

  it('is cancelled with all that it traces', async () => {
    stages({ endless: 'echo $$; sleep 1000' });
    const running = project.start('build', '--strict');
    const pid = Number(await logOf('endless'));
    running.signal('SIGTERM');
    expect(await running.ended).toBe(143);
    await expectGone(pid);
  });
});

describeWith(noSandbox ?? noStrace)('--strict in the sandbox', () => {
  it('reports hidden files that were requested; each run has its own /tmp', () => {
    stages({
      hidden: 'cat PROJECT/secret.txt > out.txt || exit 3',
      written: 'echo > PROJECT/artifacts/other/text; echo > out.txt',
      own: 'echo > /tmp/own; cat /tmp/own > out.txt; cat /tmp/not-there; true',
    });
    const ends = buildAll('--strict', '--sandbox');
    expect(ends.hidden).toEqual(undeclared('reads', ['secret.txt']));
    expect(ends.written).toEqual(undeclared('writes', ['artifacts/other/text']));
    expect(ends.own).toBe('executed');
  });
});
