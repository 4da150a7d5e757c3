/** The command line: takes arguments and returns the exit code. The code of a command is loaded when it runs. */
import { CommanderError } from 'commander';
import { isCodedError } from '../base/coded-error.js';
import { explainForbidden } from '../base/files/file-owner.js';
import { FORBIDDEN, hasCode, isSystemCallError } from '../base/system-error.js';
import { TAKE_ORDER } from './pipeline/build-orders.js';
import { EXIT, type ExitCode } from './process/exit-code.js';
import { isInstallationGone } from './process/installation-gone.js';
import { buildProgram } from './program.js';
import { batchedStreams, flushOutput } from './terminal/batched-output.js';
import { makeConsole } from './terminal/console.js';
import { endWithError } from './terminal/end-with-error.js';
import { formatUsageError } from './terminal/usage-error.js';

/** The command that the scripts of `tanren completion` call; not for direct use. */
const COMPLETE = '__complete';

export async function main(argv: readonly string[]): Promise<ExitCode> {
  try {
    return await runCommand(argv);
  } finally {
    flushOutput();
  }
}

async function runCommand(argv: readonly string[]): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.built;
  const program = buildProgram(code => {
    exitCode = code;
  });
  const [first, ...words] = argv;
  if (first === TAKE_ORDER) return (await import('./commands/build/take-order.js')).takeOrder(words, runCommand);
  if (first === COMPLETE) return (await import('./commands/project/complete.js')).runComplete(program, words);

  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT.built;
      if (error.code !== 'commander.help') makeConsole({ json: false }).problem('error', formatUsageError(error));
      return EXIT.usage;
    }
    if (isCodedError(error)) {
      const json = argv.includes('--json');
      return endWithError(error, makeConsole({ json }), { json }, EXIT.usage);
    }
    if (isHomeless(error)) {
      batchedStreams.stderr.write('error[no-folder]: the current folder no longer exists\n  help: change to another folder\n');
      return EXIT.usage;
    }
    if (isSystemCallError(error) && hasCode(error, ...FORBIDDEN)) {
      const why = explainForbidden(error);
      batchedStreams.stderr.write(`error[not-permitted]: ${error.message}${why === undefined ? '' : `\n  help: ${why}`}\n`);
      return EXIT.failed;
    }
    if (isSystemCallError(error) && Object.hasOwn(REFUSALS, error.code)) {
      batchedStreams.stderr.write(`error[system-refused]: ${error.message}\n  help: ${REFUSALS[error.code]}\n`);
      return EXIT.failed;
    }
    if (isInstallationGone(error)) {
      batchedStreams.stderr.write(
        'error[installation-changed]: this installation of Tanren was rebuilt, updated or removed while it ran\n  help: start the command again: it then runs the new code; if it fails too, install Tanren again\n',
      );
      return EXIT.failed;
    }
    batchedStreams.stderr.write(`internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return EXIT.internal;
  }
}

/** Errors of system calls that the user can fix, with the help text for each. */
const REFUSALS: Readonly<Record<string, string>> = {
  ELOOP: 'the path contains links that form a cycle: remove them',
  EISDIR: 'a folder is in the place of a file: move it',
  EFTYPE: 'a pipe, socket or device is in the place of a file: move it',
  ENXIO: 'a socket or device is in the place of a file: move it',
  ENOTDIR: 'a file is in the place of a folder: move it',
  EEXIST: 'another entry is in the place of a folder or file: move it',
  ENAMETOOLONG: 'shorten the name: most file systems take 255 bytes',
  EMFILE: 'raise the number of files that a process may open (ulimit -n)',
  ENFILE: 'the system has too many open files: end other programs',
  ENOSPC: 'free space on the disk',
  EDQUOT: 'free space within the quota',
  EROFS: 'the file system is read-only: mount it for writing, or work elsewhere',
  EIO: 'the disk or network failed: check it',
  ESTALE: 'the network file system lost the file: start the command again',
};

function isHomeless(error: unknown): boolean {
  return isSystemCallError(error) && error.syscall === 'uv_cwd';
}
