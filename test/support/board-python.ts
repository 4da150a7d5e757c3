/** Runs the programs of a bundle with a Python that has numpy, onnxruntime and Pillow: `TANREN_PYTHON`, or `python3`. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const PYTHON = process.env.TANREN_PYTHON ?? 'python3';

const probe = spawnSync(PYTHON, ['-c', 'import numpy, onnxruntime, PIL'], { encoding: 'utf8' });

/** `describe`, or a skipped one whose name says why. */
export function describeWithOnnxRuntime(name: string, tests: () => void): void {
  if (probe.status === 0) {
    describe(name, tests);
    return;
  }
  const reason = `${PYTHON} has no numpy, onnxruntime and Pillow: ${(probe.stderr ?? '').trim().split('\n').at(-1) ?? 'it does not start'}`;
  console.warn(`SKIPPED: ${name}: ${reason}. Set TANREN_PYTHON to a Python that has them.`);
  describe.skip(`${name} — SKIPPED: ${reason}`, tests);
}

export interface ProgramResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `program` of the bundle in `folder`. */
export function runProgram(
  folder: string,
  program: 'runner.py' | 'detector.py',
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): ProgramResult {
  const { status, stdout, stderr } = spawnSync(PYTHON, [join(folder, program), ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
    timeout: 600_000,
  });
  return { exitCode: status, stdout, stderr };
}
