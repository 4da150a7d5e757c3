/** Servers that others wrote, installed from Debian packages and started on free ports: Bazel's remote worker, BuildStream's CAS, nginx. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

export interface RealServer {
  readonly ports: readonly number[];
  stop(): Promise<void>;
}

const WORKER_JAR = '/usr/share/bazel/A-server.jar';
const WORKER_SOURCE = '/usr/src/bazel-bootstrap/src/tools/remote/src/main/java';
const WORKER_CLASS = 'com.google.devtools.build.remote.worker.RemoteWorker';

/** The published declaration of the protocol, where a Debian package has it. */
export const REAPI_PROTO = '/usr/src/bazel-bootstrap/third_party/remoteapis';

/** Why a server cannot run here; undefined where it can. */
export const missing = {
  worker: findMissing([WORKER_JAR, WORKER_SOURCE], ['javac', 'java'], 'bazel-bootstrap bazel-bootstrap-source default-jdk-headless'),
  buildstream: runs('/usr/bin/python3', ['-c', 'import buildstream._artifactcache.casserver'])
    ? undefined
    : 'apt-get install python3-buildstream',
  nginx: runs('nginx', ['-v']) ? undefined : 'apt-get install nginx-light',
  proto: findMissing([REAPI_PROTO], [], 'bazel-bootstrap-source'),
};

function findMissing(paths: readonly string[], programs: readonly string[], packages: string): string | undefined {
  const there = paths.every(path => existsSync(path)) && programs.every(program => runs(program, ['-version']));
  return there ? undefined : `apt-get install ${packages}`;
}

function runs(program: string, args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

/** `describe`, or a loud omission that says which packages to install. */
export function describeWithServer(obstacle: string | undefined): typeof describe {
  if (obstacle === undefined) return describe;
  process.stderr.write(`SKIPPED: no real server for remote caches: ${obstacle}\n`);
  return describe.skip as typeof describe;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise(resolve => server.close(resolve));
  return port;
}

/** @param isUp whether the server listens on a port. */
async function start(
  program: string,
  args: readonly string[],
  ports: readonly number[],
  folder: string,
  isUp: (port: number) => Promise<boolean> = accepts,
): Promise<RealServer> {
  const child: ChildProcess = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  const hear = (data: unknown): void => {
    said = (said + String(data)).slice(-4000);
  };
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', hear);
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()));
  for (const port of ports) {
    for (let left = 600; !(await isUp(port)); left--) {
      if (left === 0 || child.exitCode !== null) throw new Error(`${program} does not listen on ${port}: ${said}`);
      await wait(100);
    }
  }
  return {
    ports,
    async stop() {
      // A server with processes of its own ends them.
      child.kill('SIGTERM');
      await Promise.race([ended, wait(5_000, undefined, { ref: false })]);
      child.kill('SIGKILL');
      for (const stream of [child.stdout, child.stderr]) stream?.destroy();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/**
 * Bazel's remote worker: gRPC on the first port, the HTTP cache on the second. Its source is compiled once per machine.
 * @param workPath where it runs actions; default: a folder of its own.
 */
export async function startWorker(workPath?: string): Promise<RealServer> {
  const classes = join(tmpdir(), `tanren-remote-worker-${process.getuid?.() ?? 0}`);
  if (!existsSync(join(classes, 'complete'))) compileWorker(classes);
  const folder = mkdtempSync(join(tmpdir(), 'tanren-worker-'));
  for (const name of ['work', 'cas']) mkdirSync(join(folder, name));
  const ports = [await freePort(), await freePort()];
  const options = [
    `--listen_port=${ports[0]}`,
    `--http_listen_port=${ports[1]}`,
    `--work_path=${workPath ?? `${folder}/work`}`,
    `--cas_path=${folder}/cas`,
  ];
  return start('java', ['-Xmx512m', '-cp', `${classes}:${WORKER_JAR}`, WORKER_CLASS, ...options], ports, folder);
}

function compileWorker(classes: string): void {
  rmSync(classes, { recursive: true, force: true });
  mkdirSync(classes);
  const files = readdirSync(WORKER_SOURCE, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.java'));
  const { status, stderr } = spawnSync(
    'javac',
    ['-nowarn', '-proc:none', '-cp', WORKER_JAR, '-d', classes, ...files.map(name => join(WORKER_SOURCE, name))],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`the remote worker does not compile: ${stderr}`);
  writeFileSync(join(classes, 'complete'), '');
}

/** BuildStream's server: content without results. */
export async function startBuildStream(): Promise<RealServer> {
  const folder = mkdtempSync(join(tmpdir(), 'tanren-buildstream-'));
  const port = await freePort();
  const program = 'from buildstream._artifactcache.casserver import server_main; server_main()';
  return start('/usr/bin/python3', ['-c', program, '--port', String(port), '--enable-push', folder], [port], folder);
}

export interface NginxPlace {
  /** Words before its command, such as those that enter a network namespace. */
  readonly before: readonly string[];
  readonly address: string;
  readonly tls: { readonly certificate: string; readonly key: string };
}

/** nginx with DAV. @param place default: this machine's loopback, without TLS. */
export async function startNginx(place?: NginxPlace): Promise<RealServer> {
  const folder = mkdtempSync(join(tmpdir(), 'tanren-nginx-'));
  mkdirSync(join(folder, 'data'));
  const port = await freePort();
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(name => `${name}_temp_path ${folder}/${name};`).join(' ');
  const tls = place === undefined ? '' : ` ssl; ssl_certificate ${place.tls.certificate}; ssl_certificate_key ${place.tls.key}`;
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const text = `${user} daemon off; pid ${folder}/pid; error_log ${folder}/error.log; worker_processes 1; events {}
http { access_log off; ${places} server { listen ${place?.address ?? '127.0.0.1'}:${port}${tls}; location / {
  root ${folder}/data; dav_methods PUT; create_full_put_path on; client_max_body_size 2G; } } }\n`;
  writeFileSync(join(folder, 'nginx.conf'), text);
  const [program = 'nginx', ...words] = [...(place?.before ?? []), 'nginx', '-p', folder, '-c', join(folder, 'nginx.conf')];
  // A socket of another namespace cannot be tried from here.
  const hasStarted = async (): Promise<boolean> => existsSync(join(folder, 'pid'));
  return start(program, words, [port], folder, place === undefined ? accepts : hasStarted);
}
