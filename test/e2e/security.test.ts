/** What a stage, a cache folder or a package cannot do to the rest of the machine: one test for each promise of docs/sandbox.md. */
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CliWorld, givenProject } from '../support/cli-world.js';
import { noSandbox } from '../support/guards.js';

const SECRET = 'hunter2-and-more';
const KEY = '-----BEGIN KEY-----\nlineOneOfTheKey\nlineTwoOfTheKey\n-----END KEY-----\n';

let project: CliWorld;
beforeEach(() => {
  project = givenProject({ 'text.txt': 'iron\n', 'outside.txt': 'precious\n' }, { TOKEN: SECRET, PRIVATE_KEY: KEY, EMPTY: '' });
});
afterEach(() => project.remove());

/** Stages of the shell by name; PROJECT in a script stands for the project's folder. */
function stages(scripts: Readonly<Record<string, string>>, output: string, more = ''): void {
  const each = Object.entries(scripts).map(
    ([name, script]) => `  ${name}:
    uses: command
    with: {run: [${JSON.stringify(script.replaceAll('PROJECT', project.folder))}], shell: sh, inputs: {text: in.txt}, outputs: {out: ${output}}}
    inputs: {text: "\${sources.text}"}
${more}`,
  );
  project.write('pipeline.yaml', `version: 1\nsources: {text: text.txt}\nstages:\n${each.join('')}`);
}

interface Failure {
  readonly code: string;
  readonly message: string;
}

function buildAll(...args: readonly string[]): Readonly<Record<string, Failure | string>> {
  const { stdout } = project.run('build', '--keep-going', '--json', ...args);
  const report = JSON.parse(stdout) as { readonly stages: readonly { stage: string; outcome: { kind: string; failure?: Failure } }[] };
  return Object.fromEntries(report.stages.map(({ stage, outcome }) => [stage, outcome.failure ?? outcome.kind]));
}

const codesOf = (ends: ReturnType<typeof buildAll>): Record<string, string> =>
  Object.fromEntries(Object.entries(ends).map(([stage, end]) => [stage, typeof end === 'string' ? end : end.code]));

/** Every file of the project with its text, the given ones left out. */
function filesWith(text: string, ...except: readonly string[]): readonly string[] {
  return readdirSync(project.folder, { recursive: true, encoding: 'utf8' }).filter(name => {
    const path = join(project.folder, name);
    return !except.some(start => name.startsWith(start)) && lstatSync(path).isFile() && readFileSync(path, 'latin1').includes(text);
  });
}

describe('outputs', () => {
  it('cannot be links, pipes or sockets, contain links that leave them, or be behind a link', () => {
    stages(
      {
        absolute: 'mkdir out; ln -s /etc/hostname out/link',
        above: 'mkdir -p out/deep; ln -s ../../../outside.txt out/deep/link',
        chain: 'mkdir -p out/a/b; ln -s ../.. out/a/b/root; ln -s a/b/root/.. out/escape',
        pipe: 'mkdir out; mkfifo out/pipe',
        socket: `mkdir out; node -e "require('net').createServer().listen('out/socket',()=>process.kill(process.pid,'SIGKILL'))"; true`,
        link: 'ln -s PROJECT/outside.txt out',
        alone: 'mkfifo out',
        inner: 'mkdir out; cp in.txt out/real; ln -s real out/link; echo > "out/new\nline"',
      },
      'out',
    );
    expect(codesOf(buildAll())).toEqual({
      absolute: 'output-escapes',
      above: 'output-escapes',
      chain: 'output-escapes',
      pipe: 'special-file',
      socket: 'special-file',
      link: 'command-output-missing',
      alone: 'command-output-missing',
      inner: 'executed',
    });
    expect(readdirSync(join(project.folder, 'artifacts/inner/out')).sort()).toEqual(['link', 'new\nline', 'real']);

    project.write('sub/outside.txt', 'precious\n');
    stages({ behind: 'rmdir sub; ln -s PROJECT sub', workless: 'cd ..; mv work old; ln -s PROJECT work' }, 'sub/outside.txt');
    expect(codesOf(buildAll())).toEqual({ behind: 'output-escapes', workless: 'output-escapes' });
    expect([project.read('outside.txt'), project.read('sub/outside.txt')]).toEqual(['precious\n', 'precious\n']);
  });

  it('cannot be declared outside', () => {
    const [first = '', ...others] = ['../out.txt', '/tmp/out.txt', 'a/../../out.txt'].map((path, i) => {
      stages({ [`s${i}`]: 'true' }, JSON.stringify(path));
      return project.read('pipeline.yaml');
    });
    project.write('pipeline.yaml', first + others.map(text => text.slice(text.indexOf('stages:') + 'stages:\n'.length)).join(''));
    const { exitCode, stderr } = project.run('build');
    expect(exitCode).toBe(2);
    expect(stderr.match(/expected a relative path inside the folder/g)).toHaveLength(3);
  });

  it('that are hard links to other files copy the content, and do not change the files', () => {
    stages({ file: 'ln PROJECT/outside.txt out' }, 'out');
    const before = statSync(join(project.folder, 'outside.txt'));
    expect(buildAll()).toEqual({ file: 'executed' });
    const after = statSync(join(project.folder, 'outside.txt'));
    expect([after.mode, after.ino, after.nlink]).toEqual([before.mode, before.ino, 1]);

    writeFileSync(join(project.folder, 'outside.txt'), 'edited\n');
    writeFileSync(join(project.folder, 'artifacts/file/out'), 'edited\n');
    expect(project.run('cache', 'verify').exitCode).toBe(0);
    project.run('build');
    expect(project.read('artifacts/file/out')).toBe('precious\n');
  });
});

it('a program that writes to its inputs, replaces them or changes their modes reaches neither sources, artifacts nor the store', () => {
  project.write(
    'pipeline.yaml',
    `version: 1
sources: {text: text.txt, folder: folder}
stages:
  first:
    uses: command
    with: {run: [cp, -r, in, out], inputs: {in: in}, outputs: {out: out}}
    inputs: {in: "\${sources.folder}"}
  spoil:
    uses: command
    with:
      run: ["echo overwritten >> text; chmod 777 text source in/*; echo overwritten > in/a.txt; mv text text2; mv text2 text; rm -r source/a.txt; mkfifo source/pipe; echo > out"]
      shell: sh
      inputs: {text: text, source: source, in: in}
      outputs: {out: out}
    inputs: {text: "\${sources.text}", source: "\${sources.folder}", in: first.out}
`,
  );
  project.write('folder/a.txt', 'a');
  chmodSync(join(project.folder, 'folder/a.txt'), 0o444);
  expect(buildAll()).toEqual({ first: 'executed', spoil: 'executed' });

  expect([project.read('text.txt'), project.read('folder/a.txt'), project.read('artifacts/first/out/a.txt')]).toEqual(['iron\n', 'a', 'a']);
  expect(readdirSync(join(project.folder, 'folder'))).toEqual(['a.txt']);
  expect(statSync(join(project.folder, 'folder/a.txt')).mode & 0o777).toBe(0o444);
  expect(project.run('cache', 'verify').exitCode).toBe(0);
  expect(project.run('build').stdout).toContain('nothing to do');
});

it('no shell is started unless the stage asks for one', () => {
  project.write(
    'pipeline.yaml',
    `version: 1
stages:
  one:
    uses: command
    with: {run: [node, -e, "require('fs').writeFileSync('out.txt', process.argv.slice(1).join('|'))", "$(touch /tmp/x); echo", "\`id\`", "*", "a && b"], outputs: {text: out.txt}}
`,
  );
  expect(buildAll()).toEqual({ one: 'executed' });
  expect(project.read('artifacts/one/text')).toBe('$(touch /tmp/x); echo|`id`|*|a && b');
});

describe('secrets', () => {
  const plugin = `import { writeFileSync } from 'node:fs';
const file = { kind: 'file', optional: false, entries: undefined, entryKinds: {}, description: '' };
export const talk = { name: 'talk', version: 1, description: '', params: { type: 'object' }, inputs: {}, outputs: { text: file }, determinism: 'exact', runsModels: 'never',
  async run({ outputs, context, params }) {
    const { TOKEN } = context.env;
    context.log('warning', 'warning of ' + TOKEN);
    context.progress(1, 2, TOKEN);
    console.log('out ' + TOKEN);
    console.error(process.env);
    process.stdout.write('pieces ' + TOKEN.slice(0, 5));
    await new Promise(resolve => setTimeout(resolve, 50));
    process.stdout.write(TOKEN.slice(5) + ' end\\n');
    await context.spawn(['sh', '-c', 'echo "program $TOKEN"; printf "pie"; printf "%s" "$TOKEN" | cut -c1-9 | tr -d "\\\\n"; sleep 0.05; printf "%s\\\\n" "$TOKEN" | cut -c10-'], { cwd: context.scratch, env: {} });
    if (params.fail) throw new Error('cannot log in with ' + TOKEN, { cause: new Error(TOKEN) });
    writeFileSync(outputs.text, String(TOKEN.length));
  } };`;

  it('reach the stage, and no key, log, message, report or file of the cache', () => {
    project.write('talk.mjs', plugin);
    project.write(
      'pipeline.yaml',
      `version: 1
plugins: {talk: ./talk.mjs}
stages:
  program:
    uses: command
    with: {run: ['echo "$TOKEN"; echo "$PRIVATE_KEY" >&2; env; printf %s "$TOKEN" | wc -c > out.txt'], shell: sh, outputs: {text: out.txt}}
    secrets: [TOKEN, PRIVATE_KEY, EMPTY]
  failing:
    uses: command
    with: {run: ['echo "login with $TOKEN refused"; exit 3'], shell: sh, outputs: {text: out.txt}}
    secrets: [TOKEN]
  worker: {uses: talk, secrets: [TOKEN]}
  broken: {uses: talk, with: {fail: true}, secrets: [TOKEN]}
`,
    );
    const outputs = [
      project.run('build', '-k', '--check'),
      project.run('build', '-k', '--json'),
      project.run('explain', 'program', 'worker'),
    ];
    const log = (stage: string): string => project.read(`cache/logs/pipeline/${stage}.log`);
    expect(project.read('artifacts/program/text')).toBe(`${SECRET.length}\n`);
    expect(project.read('artifacts/worker/text')).toBe(String(SECRET.length));
    const said = outputs.map(({ stdout, stderr }) => stdout + stderr).join('');
    for (const part of [SECRET, 'lineOneOfTheKey', 'lineTwoOfTheKey']) {
      expect(said).not.toContain(part);
      expect(filesWith(part)).toEqual([]);
    }
    expect(said).toContain('login with *** refused');
    expect(said).toContain('cannot log in with ***');
    expect(log('worker')).toContain('*** end');
    expect(log('worker')).toMatch(/pie\*\*\*\n/);
  });

  it('are in the key as set or not set: another value runs nothing, none runs the stage', () => {
    stages({ one: 'printf %s "$TOKEN" | wc -c > out.txt' }, 'out.txt', '    secrets: [TOKEN]\n');
    expect(buildAll()).toEqual({ one: 'executed' });
    expect(project.with({ environment: { TOKEN: 'another' } }).run('build').stdout).toContain('nothing to do');
    expect(project.with({ environment: { TOKEN: undefined } }).run('build').stdout).toContain('1 executed');
    expect(project.run('explain', 'one').stdout).toContain('secrets.TOKEN: "not set" → "set"');
  });

  it('are in no command line, also with the sandbox', () => {
    stages(
      { one: `cat /proc/[0-9]*/cmdline | tr "\\0" "\\n" | grep -c "${SECRET.slice(0, 6)}" > out.txt; true` },
      'out.txt',
      '    secrets: [TOKEN]\n',
    );
    const args = noSandbox === undefined ? ['--sandbox'] : [];
    expect(buildAll(...args)).toEqual({ one: 'executed' });
    // grep's own line, and that of the shell which starts it, name its pattern.
    expect(Number(project.read('artifacts/one/out'))).toBeLessThanOrEqual(6);
    expect(filesWith(SECRET)).toEqual([]);
  });
});

describe('files of the cache and artifacts', () => {
  it('are readable only by their owner, and follow the umask', () => {
    stages({ one: 'cp in.txt out.txt; chmod 777 out.txt' }, 'out.txt');
    const old = process.umask(0o027);
    try {
      expect(buildAll()).toEqual({ one: 'executed' });
    } finally {
      process.umask(old);
    }
    const modeOf = (name: string): number => statSync(join(project.folder, name)).mode & 0o777;
    expect([modeOf('artifacts/one'), modeOf('artifacts/one/out')]).toEqual([0o750, 0o750]);
    for (const name of readdirSync(join(project.folder, 'cache'), { recursive: true, encoding: 'utf8' })) {
      if (name === '.gitignore' || lstatSync(join(project.folder, 'cache', name)).isSocket()) continue;
      expect([name, modeOf(`cache/${name}`) & 0o077]).toEqual([name, 0]);
    }
    rmAndRestore();
    expect(modeOf('artifacts/one/out') & 0o111).not.toBe(0);
  });

  it('that others may write to cause a warning', () => {
    stages({ one: 'cp in.txt out.txt' }, 'out.txt');
    mkdirSync(join(project.folder, 'cache'));
    chmodSync(join(project.folder, 'cache'), 0o777);
    expect(project.run('build').stdout).toMatch(
      /warning\[cache-exposed\]: anyone may write to .*cache and so change the results of builds/,
    );
    chmodSync(join(project.folder, 'cache'), 0o755);
    expect(project.run('build', '--force').stdout).not.toContain('cache-exposed');
  });

  function rmAndRestore(): void {
    project.unlink('artifacts/one/out');
    expect(project.run('build').exitCode).toBe(0);
  }
});

it('a package is not a plugin unless the pipeline file names it', () => {
  project.write('node_modules/tanren-plugin-evil/package.json', '{"name": "tanren-plugin-evil", "version": "1.0.0", "main": "index.js"}');
  project.write('node_modules/tanren-plugin-evil/index.js', "require('fs').writeFileSync('was-loaded', '');");
  stages({ one: 'cp in.txt out.txt' }, 'out.txt');
  project.run('build');
  project.write('pipeline.yaml', project.read('pipeline.yaml').replace('uses: command', 'uses: tanren-plugin-evil'));
  const { exitCode, stderr } = project.run('build');
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('error[unknown-plugin]')]);
  expect(existsSync(join(project.folder, 'was-loaded'))).toBe(false);
});

it('a source outside the project must be named, is read-only, and its path is in no key', () => {
  const other = givenProject({ 'far.txt': 'far\n', 'folder/a.txt': 'a' });
  try {
    project.write(
      'pipeline.yaml',
      `version: 1
sources: {far: ${other.folder}/far.txt, folder: ${other.folder}/folder}
stages:
  one:
    uses: command
    with: {run: ['cat far.txt folder/a.txt > out.txt; echo overwritten > far.txt; rm -r folder'], shell: sh, inputs: {far: far.txt, folder: folder}, outputs: {text: out.txt}}
    inputs: {far: "\${sources.far}", folder: "\${sources.folder}"}
`,
    );
    const before = other.listing();
    expect(buildAll()).toEqual({ one: 'executed' });
    expect(other.listing()).toEqual(before);
    expect(project.read('artifacts/one/text')).toBe('far\na');
    expect(filesWith(other.folder, 'pipeline.yaml', 'cache/state', 'cache/history', 'cache/plans')).toEqual([]);
  } finally {
    other.remove();
  }
});
