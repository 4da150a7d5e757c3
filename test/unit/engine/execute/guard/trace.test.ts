/** Parsing of strace output: lines in the form of strace 6.1 with -y -xx, shortened. */
import { type Access, readTrace } from '../../../../../src/engine/execute/guard/trace.js';

const hex = (text: string): string => [...Buffer.from(text)].map(byte => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
const q = (text: string): string => `"${hex(text)}"`;
const at = (folder: string): string => `AT_FDCWD<${hex(folder)}>`;

const read = (...lines: readonly string[]): readonly string[] => readTrace(lines.join('\n'), '/start').map(describe_);
const describe_ = ({ kind, path, end }: Access): string => `${kind} ${path}${end === 'done' ? '' : ' (refused)'}`;

describe('readTrace', () => {
  it("uses the descriptor's path of an opened file, with links followed", () => {
    expect(read(`1 openat(${at('/start')}, ${q('link')}, O_RDONLY|O_CLOEXEC) = 3<${hex('/real/file')}>`)).toEqual(['read /real/file']);
    expect(read(`1 openat(${at('/start')}, ${q('new')}, O_WRONLY|O_CREAT, 0666) = 3<${hex('/start/new')}>(deleted)`)).toEqual([
      'write /start/new',
    ]);
    expect(read(`1 creat(${q('/x')}, 0644) = 3<${hex('/x')}>`)).toEqual(['write /x']);
    expect(read(`1 openat(${at('/')}, ${q('etc')}, O_RDONLY|O_PATH) = 3<${hex('/etc')}>`)).toEqual([]);
  });

  it('lists paths that were not found, and omits other failures', () => {
    expect(read(`1 openat(${at('/a/b')}, ${q('../c')}, O_RDONLY) = -1 ENOENT (No such file or directory)`)).toEqual([
      'read /a/c (refused)',
    ]);
    expect(read(`1 mkdir(${q('/a')}, 0777)       = -1 EEXIST (File exists)`)).toEqual([]);
  });

  it('joins a call that another process interrupted', () => {
    expect(
      read(
        `2 execve(${q('./tool')}, [${q('tool')}, ${q('/not/a/path')}], 0x5 /* 3 vars */ <unfinished ...>`,
        `1 <... vfork resumed>)  = 2`,
        '2 <... execve resumed>)             = 0',
      ),
    ).toEqual(['read /start/tool']);
  });

  it('follows the working directories of processes, and of those that they start', () => {
    expect(
      read(
        `1 chdir(${q('sub')}) = 0`,
        '1 vfork( <unfinished ...>',
        `2 unlink(${q('a')}) = 0`,
        `2 chdir(${q('/other')}) = 0`,
        `2 unlink(${q('b')}) = 0`,
        '1 <... vfork resumed>) = 2',
        `1 unlink(${q('c')}) = 0`,
        `1 fchdir(4<${hex('/fourth')}>) = 0`,
        `1 rmdir(${q('d')}) = 0`,
        `1 openat(${at('/fifth')}, ${q('x')}, O_PATH) = 3<${hex('/fifth/x')}>`,
        `1 mkdir(${q('e')}, 0777) = 0`,
      ),
    ).toEqual(['write /start/sub/a', 'write /other/b', 'write /start/sub/c', 'write /fourth/d', 'write /fifth/e']);
  });

  it.each([
    [`rename(${q('a')}, ${q('/b')}) = 0`, ['write /start/a', 'write /b']],
    [`renameat2(${at('/x')}, ${q('a')}, 5<${hex('/y')}>, ${q('b')}, RENAME_NOREPLACE) = 0`, ['write /x/a', 'write /y/b']],
    [`linkat(${at('/x')}, ${q('a')}, ${at('/x')}, ${q('/z/b')}, 0) = 0`, ['write /z/b']],
    [`symlinkat(${q('/elsewhere')}, ${at('/x')}, ${q('l')}) = 0`, ['write /x/l']],
    [`unlinkat(7<${hex('/y')}>, ${q('a')}, AT_REMOVEDIR) = 0`, ['write /y/a']],
    [`fchmod(3<${hex('/y/f')}>, 0600) = 0`, ['write /y/f']],
    [`utimensat(3<${hex('/y/f')}>, NULL, [UTIME_NOW, UTIME_NOW], 0) = 0`, ['write /y/f']],
    [`setxattr(${q('f')}, ${q('user.a')}, ${q('v')}, 1, 0) = 0`, ['write /start/f']],
    [`fchownat(AT_FDCWD, ${q('f')}, 1, 1, 0) = 0`, ['write /start/f']],
  ])('knows what is changed by %s', (line, expected) => {
    expect(read(`1 ${line}`)).toEqual(expected);
  });

  it('leaves pipes, sockets and files of memory out, and lines that are none', () => {
    expect(
      read(
        '',
        'strace: some complaint',
        '1 +++ exited with 0 +++',
        `1 openat(${at('/')}, ${q('/proc/self/fd/1')}, O_WRONLY) = 3<pipe:[12]>`,
        `1 open(${q('x')}, O_RDWR) = 3<${hex('/memfd:x (deleted)')}>`,
      ),
    ).toEqual(['write /proc/self/fd/1']);
  });
});
