/** Measures restoring a large artifact from the cache, compared with copying and hashing the same bytes. */
import { constants, copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestFile } from '../src/base/digest.js';
import { DIST } from '../test/support/shapes-project.js';
import { runProgram } from './run-program.js';
import { formatRatio, formatSamples, printTable } from './table.js';
import { interleave } from './timing.js';
import { makeTrivialFolder } from './trivial-graph.js';

const ROUNDS = 9;
const SIZE_BYTES = 170_000_000;

export async function measureRestore(): Promise<void> {
  const { folder, remove } = makeTrivialFolder('restore');
  try {
    // A cheap way to write different bytes in every block.
    const run = `i=0; while [ $i -lt 17 ]; do head -c 10000000 /dev/urandom; i=$((i+1)); done > out`;
    const stages = { big: { uses: 'command', with: { shell: 'sh', run: [run], outputs: { out: 'out' } } } };
    writeFileSync(join(folder, 'pipeline.yaml'), JSON.stringify({ version: 1, stages }));
    const build = (form: 'copies' | 'links') =>
      runProgram({
        command: process.execPath,
        args: [join(DIST, 'bin/tanren.js'), 'build'],
        cwd: folder,
        env: { ...process.env, TANREN_ARTIFACTS: form },
      });
    build('copies');
    const restore = (form: 'copies' | 'links') => () => {
      rmSync(join(folder, 'artifacts'), { recursive: true });
      const said = build(form);
      if (!said.includes('1 restored')) throw new Error(`the build was to restore; it said:\n${said}`);
    };
    const copy = join(folder, 'copy');
    const times = await interleave(
      {
        node: () => runProgram({ command: process.execPath, args: ['-e', '0'], cwd: tmpdir() }),
        copy: () => copyFileSync(join(folder, 'artifacts/big/out'), copy, constants.COPYFILE_FICLONE),
        hash: () => digestFile(join(folder, 'artifacts/big/out')),
        copies: restore('copies'),
        links: restore('links'),
      },
      ROUNDS,
    );
    const ratio = (name: 'copies' | 'links'): string => formatRatio(times[name].median, times.copy.median + times.hash.median);
    printTable(`Restoring ${SIZE_BYTES / 1e6} MB, ms, median (quartiles) of ${ROUNDS}, interleaved`, [
      ['', 'ms', 'to copy + hash'],
      ["Node's start", formatSamples(times.node), ''],
      ['copy alone (a clone where the file system can)', formatSamples(times.copy), ''],
      ['hash alone', formatSamples(times.hash), ''],
      ['tanren build, as a copy', formatSamples(times.copies), ratio('copies')],
      ['tanren build, as a link', formatSamples(times.links), ratio('links')],
    ]);
  } finally {
    remove();
  }
}
