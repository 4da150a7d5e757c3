/** The stage `command`: programs, their inputs, outputs, environment and errors. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import { checkPlaces } from '../../../stages/command/places.js';
import { command } from '../../../stages/command/stage.js';
import { givenFolder, outputPorts, parseParams, runStage, type StageRun } from '../../support/run-stage.js';

const folder = givenFolder('command');
beforeAll(async () => {
  await writeFile(join(folder.path, 'source.txt'), 'a\n# b\nc\n');
  await mkdir(join(folder.path, 'images'));
  await writeFile(join(folder.path, 'images/1.txt'), 'one');
});

function run(params: JsonObject, inputs: Record<string, string> = {}): Promise<StageRun> {
  const paths = Object.fromEntries(Object.entries(inputs).map(([port, path]) => [port, join(folder.path, path)]));
  return runStage(command, { params, inputs: paths, folder: folder.path });
}

const script = (code: string): string[] => ['node', '-e', code];

describe('command', () => {
  it('runs a program on its declared inputs and collects its declared outputs', async () => {
    const code = "const fs=require('fs');fs.writeFileSync('out/n.txt',String(fs.readFileSync('in/source.txt','utf8').split('\\n').length))";
    const { outputs } = await run(
      { run: script(code), inputs: { source: 'in/source.txt' }, outputs: { count: 'out/n.txt' } },
      { source: 'source.txt' },
    );
    expect(await readFile(outputs.count ?? '', 'utf8')).toBe('4');
  });

  it('copies inputs with fixed permissions and umask, without dangling links', async () => {
    const source = join(folder.path, 'private');
    await mkdir(source, { mode: 0o700 });
    await writeFile(join(source, 'file'), 'x', { mode: 0o600 });
    await writeFile(join(source, 'tool'), 'x', { mode: 0o700 });
    await symlink('nowhere', join(source, '.#lock'));
    const before = process.umask(0o077);
    const { outputs } = await run(
      { run: ['(umask; find d | sort | xargs stat -c "%n %a") > seen'], shell: 'sh', inputs: { d: 'd' }, outputs: { seen: 'seen' } },
      { d: 'private' },
    ).finally(() => process.umask(before));
    expect(await readFile(outputs.seen ?? '', 'utf8')).toBe('0022\nd 755\nd/file 644\nd/tool 755\n');
  });

  const odd = ['/proc/version', '/sys/kernel/mm/transparent_hugepage/enabled'].filter(path => existsSync(path));
  for (const path of odd)
    it(`copies all of ${path}, whose reported size differs from its content`, async () => {
      const inputs = { source: path };
      const params = { run: ['cat source > copy'], shell: 'sh', inputs: { source: 'source' }, outputs: { copy: 'copy' } };
      const { outputs } = await runStage(command, { params, inputs, folder: folder.path });
      expect(await readFile(outputs.copy ?? '', 'utf8')).toBe(await readFile(path, 'utf8'));
    });

  it('runs a shell script with shell: sh', async () => {
    const { outputs } = await run(
      { run: ['grep -v "^#" source.txt | sort -r > lines'], shell: 'sh', inputs: { source: 'source.txt' }, outputs: { lines: 'lines' } },
      { source: 'source.txt' },
    );
    expect(await readFile(outputs.lines ?? '', 'utf8')).toBe('c\na\n');
  });

  it('accepts folders as inputs and outputs', async () => {
    const { outputs } = await run(
      { run: ['cp', '-r', 'images', 'copy'], inputs: { images: 'images' }, outputs: { copy: 'copy' } },
      { images: 'images' },
    );
    expect(await readFile(join(outputs.copy ?? '', '1.txt'), 'utf8')).toBe('one');
  });

  it('gives the program its declared inputs and environment, and nothing else', async () => {
    process.env.TANREN_TEST_SECRET = 'not for the program';
    const code = "require('fs').writeFileSync('seen.json',JSON.stringify({files:require('fs').readdirSync('.'),env:process.env}))";
    const { outputs } = await run(
      { run: script(code), inputs: { source: 'a.txt' }, outputs: { seen: 'seen.json' }, env: { MODE: 'quick', LANG: 'C' } },
      { source: 'source.txt' },
    );
    delete process.env.TANREN_TEST_SECRET;
    const seen = JSON.parse(await readFile(outputs.seen ?? '', 'utf8'));
    expect(seen.files).toEqual(['a.txt']);
    expect(seen.env).toMatchObject({ MODE: 'quick', LANG: 'C', TZ: 'UTC' });
    expect(seen.env).not.toHaveProperty('TANREN_TEST_SECRET');
  });

  it('does not let the program change its inputs', async () => {
    const code = "require('fs').writeFileSync('source.txt','changed');require('fs').writeFileSync('o','')";
    await run({ run: script(code), inputs: { source: 'source.txt' }, outputs: { o: 'o' } }, { source: 'source.txt' });
    expect(await readFile(join(folder.path, 'source.txt'), 'utf8')).toBe('a\n# b\nc\n');
  });

  it('fails with exit code and the end of the output if the program fails', async () => {
    const code = "console.log('x'.repeat(9000));console.error('the reason');process.exit(3)";
    const failed = run({ run: script(code), outputs: { o: 'o' } });
    await expect(failed).rejects.toMatchObject({ code: 'command-failed', details: { exitCode: 3, signal: null } });
    await expect(failed).rejects.toThrow(/^node ended with exit code 3; its last output:\nx+\nthe reason$/);
    await expect(failed.catch((error: Error) => error.message.length)).resolves.toBeLessThan(4100);
  });

  it('names the signal that ended the program', async () => {
    await expect(run({ run: ['kill -9 $$'], shell: 'sh', outputs: { o: 'o' } })).rejects.toThrow(
      'sh ended with signal SIGKILL without output',
    );
  });

  it('names a missing program', async () => {
    const failed = run({ run: ['tanren-no-such-program'], outputs: { o: 'o' } });
    await expect(failed).rejects.toMatchObject({ code: 'tool-missing', message: expect.stringContaining('"tanren-no-such-program"') });
  });

  it('runs a program that is an input', async () => {
    await writeFile(join(folder.path, 'tool.sh'), '#!/bin/sh\necho here > o\n', { mode: 0o755 });
    const { outputs } = await run({ run: ['./tool.sh'], inputs: { tool: 'tool.sh' }, outputs: { o: 'o' } }, { tool: 'tool.sh' });
    expect(await readFile(outputs.o ?? '', 'utf8')).toBe('here\n');
  });

  it('names every declared output that was not written', async () => {
    const failed = run({ run: script("require('fs').writeFileSync('b','')"), outputs: { a: 'a.txt', b: 'b', c: 'deep/c.txt' } });
    await expect(failed).rejects.toMatchObject({
      code: 'command-output-missing',
      details: {
        outputs: [
          { port: 'a', path: 'a.txt' },
          { port: 'c', path: 'deep/c.txt' },
        ],
      },
    });
  });

  it('refuses a symbolic link as an output', async () => {
    await expect(run({ run: ['ln', '-s', '/etc/hostname', 'o'], outputs: { o: 'o' } })).rejects.toMatchObject({
      code: 'command-output-missing',
    });
  });
});

describe("command's params", () => {
  it('give its ports and tools', () => {
    const params = parseParams(command, {
      run: ['python3', 'x.py'],
      outputs: { model: { path: 'm.onnx', kind: 'onnx-model' }, log: 'log' },
      tools: ['git', 'python3'],
    });
    expect(Object.entries(outputPorts(command, params)).map(([name, { kind }]) => [name, kind])).toEqual([
      ['model', 'onnx-model'],
      ['log', 'any'],
    ]);
    expect(command.tools?.(params)).toEqual(['python3', 'git']);
  });

  it.each([
    ['the shell, for a script', { run: ['ls'], shell: 'sh' }, ['sh']],
    ['none for a program that is an input', { run: ['./tool'] }, []],
  ])('name as tools %s', (_, params, tools) => {
    expect(command.tools?.(parseParams(command, { ...params, outputs: { o: 'o' } }))).toEqual(tools);
  });

  it.each<[string, JsonObject, string]>([
    ['leave the folder', { outputs: { o: '../o' } }, 'outputs.o: "../o" expected a relative path inside the folder'],
    ['are absolute', { outputs: { o: '/o' } }, 'outputs.o: "/o" expected a relative path inside the folder'],
    ['differ only in case', { outputs: { o: 'x', O: 'y' } }, 'outputs.o and outputs.O differ only in case'],
    ['overlap when case is ignored', { inputs: { i: 'x' }, outputs: { o: 'X/y' } }, 'inputs.i and outputs.o overlap: "x" and "X/y"'],
    ['overlap, with a separate accent', { inputs: { i: '\u00e9' }, outputs: { o: 'e\u0301' } }, 'inputs.i and outputs.o overlap'],
    ['overlap', { inputs: { i: 'x' }, outputs: { o: 'x/y' } }, 'inputs.i and outputs.o overlap: "x" and "x/y"'],
    ['overlap, the inner one first', { inputs: { i: 'a/b/c' }, outputs: { o: 'a' } }, 'inputs.i and outputs.o overlap: "a/b/c" and "a"'],
    ['are equal', { inputs: { i: 'a' }, outputs: { o: 'a' } }, 'inputs.i and outputs.o overlap: "a" and "a"'],
    [
      'give the shell two scripts',
      { run: ['a', 'b'], shell: 'sh', outputs: { o: 'o' } },
      'shell: sh expects one entry in run, the script; found 2',
    ],
  ])('are refused if they %s', (_, params, problem) => {
    expect(() => parseParams(command, { run: ['x'], ...params })).toThrow(problem);
  });

  it('are checked in linear time: ten thousand inputs take as many steps each as ten', () => {
    const { normalize } = String.prototype;
    let steps = 0;
    const counting = function (this: string, form?: string): string {
      steps += 1;
      return normalize.call(this, form);
    };
    const stepsFor = (count: number): number => {
      const inputs = Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, `in/p${index}`]));
      steps = 0;
      expect(checkPlaces(inputs, { out: 'out' })).toEqual([]);
      return steps / (count + 1);
    };
    Object.defineProperty(String.prototype, 'normalize', { value: counting, configurable: true, writable: true });
    try {
      expect(stepsFor(10)).toBeGreaterThan(0);
      expect(stepsFor(10_000)).toBeLessThanOrEqual(stepsFor(10));
    } finally {
      Object.defineProperty(String.prototype, 'normalize', { value: normalize, configurable: true, writable: true });
    }
  });
});
