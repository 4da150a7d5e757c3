/** Artifacts that are links to files of the store are as good as copies, and an edit of one never reaches another build. */
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { digestBytes } from '../../../src/base/digest.js';
import { type CliWorld, givenProject } from '../../support/cli-world.js';

const PROJECT = {
  'notes.txt': 'forge\n',
  'pipeline.yaml': `version: 1
sources: {notes: notes.txt}
stages:
  shout: {uses: command, with: {run: ["tr a-z A-Z < in > out"], shell: sh, inputs: {in: in}, outputs: {out: out}}, inputs: {in: "\${sources.notes}"}}
  folder: {uses: command, with: {run: ["mkdir out; (cat in; echo a) > out/a; (cat in; echo b) > out/b"], shell: sh, inputs: {in: in}, outputs: {out: out}}, inputs: {in: shout.out}}
  modes: {uses: command, with: {run: ["ls -lR in | grep -c '^-rw' > out"], shell: sh, inputs: {in: in}, outputs: {out: out}}, inputs: {in: folder.out}}
`,
};

describe('artifacts that are links', () => {
  let world: CliWorld;
  const path = (name: string): string => join(world.folder, name);
  const blobs = (): ReadonlyMap<string, string> => {
    const files = readdirSync(path('cache/cas'), { recursive: true, withFileTypes: true }).filter(entry => entry.isFile());
    return new Map(files.map(entry => [entry.name, join(entry.parentPath, entry.name)]));
  };
  const blobOf = (name: string): string => blobs().get(digestBytes(readFileSync(path(name)))) ?? '';
  const build = (): string => {
    const { exitCode, stdout, stderr } = world.run('build');
    if (exitCode !== 0) throw new Error(stdout + stderr);
    return stdout;
  };

  beforeEach(() => {
    world = givenProject(PROJECT, { TANREN_ARTIFACTS: 'links' });
    build();
  });
  afterEach(() => world.remove());

  it('are read-only links to the store, also inside folders; programs get writable copies', () => {
    for (const name of ['artifacts/shout/out', 'artifacts/folder/out/b']) {
      const { ino, mode } = statSync(path(name));
      expect([ino, mode & 0o222]).toEqual([statSync(blobOf(name)).ino, 0]);
    }
    expect(world.read('artifacts/modes/out')).toBe('2\n');
    expect(build()).toContain('nothing to do');
  });

  it('are linked again after they were deleted, and copied when links are no longer requested', () => {
    world.unlink('artifacts/shout/out');
    expect(build()).toContain('1 restored');
    expect(statSync(path('artifacts/shout/out')).ino).toBe(statSync(blobOf('artifacts/shout/out')).ino);

    world.unlink('artifacts/shout/out');
    expect(world.with({ environment: { TANREN_ARTIFACTS: '' } }).run('build').stdout).toContain('1 restored');
    const { ino, mode } = statSync(path('artifacts/shout/out'));
    expect([ino === statSync(blobOf('artifacts/shout/out')).ino, mode & 0o777]).toEqual([false, 0o644]);
  });

  it('that were made writable and edited lose only the stored result', () => {
    chmodSync(path('artifacts/shout/out'), 0o644);
    world.write('artifacts/shout/out', 'POISON');

    const said = build();

    expect(said).toContain('artifact-edited');
    expect(said).toContain('cache-damaged');
    expect(said).toContain('1 executed');
    expect(world.read('artifacts/shout/out')).toBe('FORGE\n');
    for (const [digest, file] of blobs()) expect(digestBytes(readFileSync(file))).toBe(digest);
    expect(build()).toContain('nothing to do');
  });

  it('keep their stamps when another stage writes the same bytes, while they are read', () => {
    const command = (run: string): string =>
      `{uses: command, with: {run: ["${run}"], shell: sh, inputs: {in: in}, outputs: {out: out}}, inputs: {in: shout.out}}`;
    const copied = path('artifacts/copies/out');
    world.write(
      'pipeline.yaml',
      `${PROJECT['pipeline.yaml']}  copies: ${command('cp in out')}\n  reads: ${command(`until [ -e ${copied} ]; do sleep 0.02; done; cat in in > out`)}\n`,
    );
    const { stdout } = world.run('build', '--jobs', '2');

    expect(stdout).toContain('2 executed');
    expect(stdout).not.toContain('warning');
    expect(build()).toContain('nothing to do');
  });

  it('are links or copies: anything else is refused', () => {
    const { exitCode, stderr } = world.with({ environment: { TANREN_ARTIFACTS: 'symlinks' } }).run('build', '--force');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('TANREN_ARTIFACTS is "symlinks"; expected copies or links')]);
  });
});
