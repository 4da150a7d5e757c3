/** Runs the bundle's Python runner without onnxruntime, on a double that plays golden values back; skipped with a message where python3 or numpy is missing. */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../src/base/json.js';
import type { SmallBundle } from './small-bundle.js';

const PROJECT = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
const STUB = join(PROJECT, 'test/fixtures/stub-onnxruntime');

const numpy = spawnSync('python3', ['-c', 'import numpy; print(numpy.__version__)'], { encoding: 'utf8' });

/** `describe`, or a skipped one whose name says why. */
export function describeWithPython(name: string, tests: () => void): void {
  if (numpy.status === 0) describe(name, tests);
  else describe.skip(`${name} — SKIPPED: no python3 with numpy on this machine`, tests);
}

/** The environment in which `import onnxruntime` gives the double. */
export function stubEnvironment(bundle: SmallBundle, changes: JsonObject = {}): Record<string, string> {
  const model = bundle.manifest.models[0];
  const records = [...(model?.golden ?? []), ...(model?.probes ?? [])].map(({ file, arrays }) => {
    const named = (role: string) => Object.fromEntries(arrays.filter(array => array.role === role).map(({ name, array }) => [name, array]));
    return { file: bundle.path(file), inputs: named('input'), outputs: named('output') };
  });
  const dims = model?.golden[0]?.arrays.find(({ role }) => role === 'input')?.dims ?? [1, 2, 4, 4];
  const tensor = (name: string) => ({ name, type: 'tensor(float)', shape: dims });
  const spec = {
    providers: ['VitisAIExecutionProvider', 'CPUExecutionProvider'],
    records,
    model: { inputs: [tensor('x')], outputs: [tensor('y')] },
    report: reportOf(10, 0, 2),
    ...changes,
  };
  return { PYTHONPATH: STUB, PYTHONDONTWRITEBYTECODE: '1', STUB_ORT: JSON.stringify(spec), RYZEN_AI_INSTALLATION_PATH: '/opt/ryzen-ai' };
}

/** The counts of an operator assignment report, as AMD's provider writes them. */
export function reportOf(npu: number, cpu: number, edge: number): JsonObject {
  const stat = (name: string, nodeNum: number): JsonObject => ({ name, nodeNum, supportedOpType: [] });
  return { deviceStat: [stat('all', npu + cpu + edge), stat('CPU', cpu), stat('NPU', npu), stat('VITIS_EP_CPU', edge)] };
}

export interface RunnerResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function runRunner(bundle: SmallBundle, args: readonly string[], environment: Record<string, string>): RunnerResult {
  const { status, stdout, stderr } = spawnSync('python3', [bundle.path('runner.py'), ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
    timeout: 300_000,
  });
  return { exitCode: status, stdout, stderr };
}
