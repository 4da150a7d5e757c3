/**
 * Measures the cost of the sandbox and of --strict: the same stage without them, in the sandbox, and traced.
 * One stage opens a single file, the other opens many.
 */
import { findSandbox } from '../src/engine/execute/guard/sandbox.js';
import { findStrict } from '../src/engine/execute/guard/strict.js';
import { givenProject } from '../test/support/cli-world.js';
import { printTable } from './table.js';
import { interleave } from './timing.js';

/** Number of stages in each build. The time of starting Tanren is divided by it. */
const STAGES = 20;
const ROUNDS = 9;

const SCRIPTS = {
  'copies a file': 'cp in.txt out.txt',
  'starts 50 programs': 'for i in 1 2 3 4 5 6 7 8 9 10; do cp in.txt a; cat a > b; mv b c; rm a; wc c > out.txt; done',
} as const;

export async function measureGuards(): Promise<void> {
  const ways: Record<string, readonly string[]> = { plain: [] };
  if ((await findSandbox()).kind === 'found') ways.sandbox = ['--sandbox'];
  if (findStrict(process.env) !== undefined) ways.strict = ['--strict'];
  const rows = [['a stage that', ...Object.keys(ways).map(way => `${way}, ms`)]];
  for (const [what, script] of Object.entries(SCRIPTS)) {
    const project = givenProject({ 'text.txt': 'iron\n', 'pipeline.yaml': pipelineOf(script) });
    try {
      const build = (args: readonly string[]) => (): void => {
        const { exitCode, stdout } = project.run('build', '--force', '--jobs', '1', ...args);
        if (exitCode !== 0) throw new Error(stdout);
      };
      const times = await interleave(Object.fromEntries(Object.entries(ways).map(([way, args]) => [way, build(args)])), ROUNDS);
      rows.push([what, ...Object.keys(ways).map(way => ((times[way]?.median ?? Number.NaN) / STAGES).toFixed(1))]);
    } finally {
      project.remove();
    }
  }
  printTable(`One stage of a build of ${STAGES}, one at a time, Tanren's start included; medians of ${ROUNDS}`, rows);
}

function pipelineOf(script: string): string {
  const items = Array.from({ length: STAGES }, (_, i) => `s${i}`).join(', ');
  return `version: 1
sources: {text: text.txt}
stages:
  work:
    foreach: [${items}]
    uses: command
    with: {run: [${JSON.stringify(script)}], shell: sh, inputs: {text: in.txt}, outputs: {text: out.txt}}
    inputs: {text: "\${sources.text}"}
`;
}
