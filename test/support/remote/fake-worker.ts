/** A worker for the fake server: it runs the command of an action in a folder made from the blobs, and keeps the outputs as blobs. */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { type Digest, digestBytes } from '../../../src/base/digest.js';
import type { RuntimePort } from '../../../src/engine/model/ports.js';
import { type TreeEntry, walkFolder } from '../../../src/engine/store/files/tree.js';
import { encodeTreeMessage } from '../../../src/engine/store/remote/tree-message.js';
import { COMMAND, DIRECTORY, PRECONDITION_FAILURE, type WireDigest } from '../../../src/remote/wire/reapi.js';
import { DIST } from '../shapes-project.js';
import type { FakeServer, FakeWorker } from './fake-grpc-server.js';

export interface WorkerHabits {
  /** Variables of the worker's process. */
  readonly environment?: Readonly<Record<string, string>>;
  /** 'read-only': inputs cannot be written to. */
  readonly inputs?: 'read-only';
  /** Called with the input root before the command starts. */
  readonly prepare?: (folder: string) => void;
}

type MissingBlob = { readonly missing: string };

/** Every worker has a folder of its own for each action, and removes it. */
export function createFakeWorker(habits: WorkerHabits = {}): FakeWorker {
  return async (action, server, signal, say) => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-fake-worker-')));
    try {
      const command = COMMAND.decode(blobOf(server, action.commandDigest));
      materialize(server, action.inputRootDigest, folder, habits);
      habits.prepare?.(folder);
      for (const path of command.outputPaths) mkdirSync(dirname(join(folder, path)), { recursive: true });
      const { exitCode, stdout, stderr } = await run(command.arguments, folder, habits.environment ?? {}, signal, say);
      return {
        result: {
          exitCode,
          ...collect(server, folder, command.outputPaths),
          stdoutDigest: keep(server, stdout),
          stderrDigest: keep(server, stderr),
          executionMetadata: { worker: 'fake-worker' },
        },
      };
    } catch (error) {
      const { missing } = error as Partial<MissingBlob>;
      if (missing === undefined) throw error;
      const details = PRECONDITION_FAILURE.encode({ violations: [{ type: 'MISSING', subject: `blobs/${missing}`, description: '' }] });
      const failed = { typeUrl: 'type.googleapis.com/google.rpc.PreconditionFailure', value: details };
      return { status: { code: status.FAILED_PRECONDITION, message: 'inputs are missing', details: [failed] } };
    } finally {
      makeWritable(folder);
      rmSync(folder, { recursive: true, force: true });
    }
  };
}

/** A small runtime: a program that starts this Node, and the worker for plugins that are modules. */
export function smallRuntime(folder: string): RuntimePort {
  const node = join(folder, 'start-node');
  writeFileSync(node, `#!/bin/sh\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 });
  const workers = ['exec-action.cjs', 'any-plugin.cjs'].map(name => ({
    path: `dist/workers/${name}`,
    from: join(DIST, 'workers', name),
    executable: false,
  }));
  return async () => [{ path: 'bin/node', from: node, executable: true }, ...workers];
}

function blobOf(server: FakeServer, digest: WireDigest | undefined): Buffer {
  const name = `${digest?.hash}/${digest?.sizeBytes}`;
  const bytes = server.blobs.get(name);
  if (bytes === undefined) throw { missing: name } satisfies MissingBlob;
  return bytes;
}

function keep(server: FakeServer, bytes: Buffer): { readonly hash: Digest; readonly sizeBytes: number } {
  const hash = digestBytes(bytes);
  server.blobs.set(`${hash}/${bytes.length}`, bytes);
  return { hash, sizeBytes: bytes.length };
}

function materialize(server: FakeServer, digest: WireDigest | undefined, folder: string, habits: WorkerHabits): void {
  mkdirSync(folder, { recursive: true });
  const { files, directories, symlinks } = DIRECTORY.decode(blobOf(server, digest));
  for (const { name, digest: content, isExecutable } of files) {
    writeFileSync(join(folder, name), blobOf(server, content));
    chmodSync(join(folder, name), (isExecutable ? 0o755 : 0o644) & (habits.inputs === 'read-only' ? 0o555 : 0o777));
  }
  for (const { name, target } of symlinks) symlinkSync(target, join(folder, name));
  for (const { name, digest: below } of directories) materialize(server, below, join(folder, name), habits);
  if (habits.inputs === 'read-only') chmodSync(folder, 0o555);
}

function makeWritable(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) if (entry.isDirectory()) makeWritable(join(folder, entry.name));
}

function run(
  argv: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
  signal: AbortSignal,
  say: (data: Buffer) => void = () => undefined,
) {
  return new Promise<{ exitCode: number; stdout: Buffer; stderr: Buffer }>(resolve => {
    const [program = '', ...words] = argv;
    const child = spawn(isAbsolute(program) ? program : join(cwd, program), words, {
      cwd,
      env: { ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on('data', (data: Buffer) => {
      stdout.push(data);
      say(data);
    });
    child.stderr.on('data', (data: Buffer) => stderr.push(data));
    // An action can be cancelled after its process has ended.
    const hasEnded = (): boolean => child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
    signal.addEventListener('abort', () => hasEnded() || process.kill(-(child.pid as number), 'SIGKILL'));
    child.on('error', () => resolve({ exitCode: 127, stdout: Buffer.alloc(0), stderr: Buffer.from('the program cannot be started') }));
    child.on('close', code => resolve({ exitCode: code ?? 137, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) }));
  });
}

function collect(server: FakeServer, folder: string, paths: readonly string[]) {
  const outputFiles: { path: string; digest: WireDigest; isExecutable: boolean; contents: Uint8Array }[] = [];
  const outputDirectories: { path: string; treeDigest: WireDigest; rootDirectoryDigest: undefined }[] = [];
  for (const path of paths) {
    const stat = lstatSync(join(folder, path), { throwIfNoEntry: false });
    if (stat?.isDirectory() === true) {
      const entries = walkFolder(join(folder, path), 'keep').map((entry): TreeEntry => {
        if (entry.kind !== 'file') return entry;
        const { hash, sizeBytes } = keep(server, readFileSync(join(folder, path, entry.path)));
        return { kind: 'file', path: entry.path, digest: hash, sizeBytes, executable: entry.stat.executable };
      });
      outputDirectories.push({
        path,
        treeDigest: keep(server, Buffer.from(encodeTreeMessage(entries).bytes)),
        rootDirectoryDigest: undefined,
      });
    } else if (stat !== undefined) {
      const digest = keep(server, readFileSync(join(folder, path)));
      outputFiles.push({ path, digest, isExecutable: (stat.mode & 0o100) !== 0, contents: new Uint8Array(0) });
    }
  }
  return { outputFiles, outputDirectories };
}
