/** Starts a runner as a stage does: a real program in a folder of its own. */
import { mkdtempSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../src/base/json.js';
import type { ExternalParams } from '../../src/runtime/device/runner-params.js';
import type { RunnerHost } from '../../src/runtime/external/open-external.js';
import { baseEnvironment, startTool } from '../../src/stage/tool-runner.js';

const PROJECT = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));

export const FAULTY_RUNNER = join(PROJECT, 'test/fixtures/runners/faulty-runner.mjs');
export const CPU_RUNNER = join(PROJECT, 'examples/runners/cpu-runner.mjs');

export interface TestHost extends RunnerHost {
  readonly identities: readonly JsonObject[];
  readonly warnings: readonly string[];
}

/** @param environment variables beyond the fixed ones, as a stage's `env` gives them. */
export function testHost(folder: string, environment: Readonly<Record<string, string>> = {}): TestHost {
  const identities: JsonObject[] = [];
  const warnings: string[] = [];
  const scratch = mkdtempSync(join(folder, 'host-'));
  const { signal } = new AbortController();
  const surroundings = {
    env: { ...baseEnvironment(process.env, scratch), ...environment },
    signal,
    group: 'own',
    log: () => undefined,
  } as const;
  return {
    scratch,
    identities,
    warnings,
    start: (command, options) => startTool(command, options, surroundings),
    identify: identity => identities.push(identity),
    log: (level, message) => level === 'warning' && warnings.push(message),
  };
}

export function externalParams(command: readonly string[], changes: Partial<ExternalParams> = {}): ExternalParams {
  return {
    command,
    device: 'npu',
    label: '',
    cpuFallback: 'refuse',
    minDeviceShare: 0.5,
    models: 'path',
    here: [],
    options: {},
    timeouts: { startSeconds: 20, loadSeconds: 20, runSeconds: 20 },
    ...changes,
  };
}
