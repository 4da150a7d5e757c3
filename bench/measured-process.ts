/** Measures a process: its time and its peak memory. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Program, runProgram } from './run-program.js';

export interface ProcessUse {
  readonly wallMs: number;
  readonly peakBytes: number;
  readonly output: string;
}

/**
 * Loaded into the process before its own module; writes the peak memory when the process ends. Uses VmHWM on Linux, because `maxRSS` there
 * includes the memory of the parent.
 */
const HOOK = `
import { readFileSync, writeFileSync } from 'node:fs';
process.on('exit', () => {
  const status = process.platform === 'linux' ? readFileSync('/proc/self/status', 'utf8') : '';
  const kilobytes = /^VmHWM:\\s+(\\d+) kB$/m.exec(status)?.[1] ?? process.resourceUsage().maxRSS;
  writeFileSync(process.env.TANREN_BENCH_PEAK, String(Number(kilobytes) * 1024));
});
`;

/** Runs a Node program to its end. @throws Error if it fails. */
export function measureProcess(program: Program): ProcessUse {
  const folder = mkdtempSync(join(tmpdir(), 'tanren-bench-peak-'));
  try {
    const hook = join(folder, 'hook.mjs');
    const peak = join(folder, 'peak');
    writeFileSync(hook, HOOK);
    const start = performance.now();
    const output = runProgram({ ...program, args: ['--import', hook, ...program.args], env: { ...process.env, TANREN_BENCH_PEAK: peak } });
    return { wallMs: performance.now() - start, peakBytes: Number(readFileSync(peak, 'utf8')), output };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
