/** The report of a process that ends before its work is done: it names the stages that had not ended, and blames a plugin only if there is one. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DIST } from '../../support/shapes-project.js';

const MODULE = pathToFileURL(join(DIST, 'src/cli/process/early-exit.js')).href;

function end(work: string): { readonly status: number | null; readonly stderr: string } {
  const script = `import { followStages, noteForeignCode, watchForEarlyExit } from ${JSON.stringify(MODULE)};
    const outlook = names => followStages({ kind: 'outlook', outlook: { tasks: names.map(stage => ({ stage })), capacity: {} } });
    const outcome = stage => followStages({ kind: 'outcome', stage, outcome: { kind: 'executed' } });
    const done = watchForEarlyExit();
    ${work}`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
}

describe('an end of the process before the work is done', () => {
  it('names the stages of the build that had not ended, and no plugin where none is loaded', () => {
    const { status, stderr } = end("outlook(['old']); outlook(['import', 'quantize', 'verify']); outcome('import');");
    expect(status).toBe(70);
    expect(stderr).toContain('error[ended-early]: the process ended before these stages had ended: quantize, verify\n');
    expect(stderr).toContain('this is a defect of Tanren: report it');
    expect(stderr).not.toContain('plugin');
  });

  it('names some of many stages', () => {
    const { stderr } = end("outlook(Array.from({ length: 30 }, (_, i) => 's' + i));");
    expect(stderr).toContain('had ended: s0, s1, s2, s3, s4, s5, s6, s7 and 22 more\n');
  });

  it('is most likely the work of a loaded plugin where no build runs', () => {
    const { status, stderr } = end('noteForeignCode();');
    expect(status).toBe(2);
    expect(stderr).toContain("before the work was done\n  help: most likely a plugin's module");
  });

  it('is not reported once the work is done', () => {
    expect(end("outlook(['a']); done();")).toMatchObject({ status: 0, stderr: '' });
  });
});
