/** A cheap check for changes of the platform class. It loads neither ONNX Runtime nor, before they are needed, modules of Node: a build with nothing to do takes less time than they. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Raised when the probe's sessions give other bytes on some processor than before. */
const PROBE_VERSION = 2;

/** Changes with the probe, the processor, its features as the system reports them, the system, Node's major version and the files of ONNX Runtime. */
export function platformGuard(): string {
  return JSON.stringify([PROBE_VERSION, process.platform, process.arch, nodeMajor(), processor(), ...onnxRuntimeFiles()]);
}

export function nodeMajor(): string {
  return process.versions.node.split('.')[0] ?? '';
}

/** On Linux the first processor's model and feature flags; elsewhere its model. */
function processor(): string {
  try {
    const lines = readFileSync('/proc/cpuinfo', 'utf8').split('\n\n', 1)[0]?.split('\n') ?? [];
    return lines.filter(line => /^(vendor_id|cpu family|model|model name|stepping|flags|Features|CPU \w+)\s*:/.test(line)).join('|');
  } catch {
    return process.getBuiltinModule('node:os').cpus()[0]?.model ?? 'unknown';
  }
}

/** ONNX Runtime's version, and size and time of its native files for this system. */
function onnxRuntimeFiles(): readonly string[] {
  const manifest = findManifest();
  const native = join(dirname(manifest), 'bin');
  const facts = [onnxRuntimeVersion()];
  for (const api of readdirSync(native).sort()) {
    const folder = join(native, api, process.platform, process.arch);
    for (const file of listFiles(folder)) {
      const { size, mtimeMs } = statSync(join(folder, file));
      facts.push(`${api}/${file}:${size}:${mtimeMs}`);
    }
  }
  return facts;
}

export function onnxRuntimeVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(findManifest(), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : 'unknown';
}

function findManifest(): string {
  return process
    .getBuiltinModule('node:module')
    .createRequire(import.meta.url)
    .resolve('onnxruntime-node/package.json');
}

function listFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
