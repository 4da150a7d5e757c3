/** `tanren cache remote runtime`: writes the runtime of remote workers to a folder, for an image of theirs. */
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { formatBytes } from '../../../base/text/format.js';
import { systemOf } from '../../../engine/execute/remote/execution-document.js';
import { digestRuntime, RUNTIME_DOCUMENT_NAME, RUNTIME_PROPERTY } from '../../../engine/execute/remote/promised-runtime.js';
import { openRuntimeDigests } from '../../../engine/execute/remote/runtime-tree.js';
import { listRuntimeFiles } from '../../exec/runtime-files.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { findInstallRoot } from '../../process/install-root.js';
import { makeConsole } from '../../terminal/console.js';
import { endWithError } from '../../terminal/end-with-error.js';

export async function runWriteRuntime(folder: string, options: { readonly json: boolean }): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  const scratch = mkdtempSync(join(tmpdir(), 'tanren-runtime-'));
  try {
    if (existsSync(folder) && readdirSync(folder).length > 0) {
      console.problem('error', `error[runtime-folder]: ${folder} is not empty\n  help: name a new folder`);
      return EXIT.usage;
    }
    const files = listRuntimeFiles(findInstallRoot(), { kind: 'whole' });
    const digest = await digestRuntime(async () => files, openRuntimeDigests({ root: scratch }));
    for (const { path, from, executable } of files) {
      const to = join(folder, path);
      mkdirSync(dirname(to), { recursive: true });
      copyFileSync(from, to);
      chmodSync(to, executable ? 0o755 : 0o644);
    }
    const system = systemOf(process);
    writeFileSync(join(folder, RUNTIME_DOCUMENT_NAME), `${JSON.stringify({ digest, system })}\n`);
    const sizeBytes = files.reduce((sum, { path }) => sum + statSync(join(folder, path)).size, 0);
    if (options.json) console.json({ folder, digest, system, files: files.length, sizeBytes });
    else {
      console.line(`${files.length} files, ${formatBytes(sizeBytes)}, for ${system}, in ${folder}`);
      console.line(`property of the workers, and of stages: ${RUNTIME_PROPERTY}: "${digest}"`);
    }
    return EXIT.built;
  } catch (error) {
    return endWithError(error, console, options, EXIT.failed);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
