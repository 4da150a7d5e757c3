/** Sweeps of the page: their files, names, states, and orders that are refused. The command is a double that writes what it is told. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readJsonShape } from '../../../src/base/json/json-shape.js';
import { readerOf } from '../../../src/base/schema/schema-reader.js';
import { cacheFolderAt } from '../../../src/engine/store/cache-folder.js';
import { openSweeps, SWEEP_ORDER, type SweepOrder } from '../../../src/web/project/sweeps.js';

const ORDER: SweepOrder = { axes: [{ name: 'preset', values: 'a,b' }], targets: [] };
const BASIS = 'b1';
const basisNow = (): string => BASIS;
const ROWS = {
  pipeline: 'pipeline',
  axes: [{ name: 'preset', sets: 'parameter preset', values: ['a', 'b'] }],
  objectives: [],
  configurations: [],
};

describe('sweeps of the page', () => {
  let root: string;
  let end: (exitCode: number, said?: string) => Promise<void>;
  let output = '';
  let say: (line: string) => void;
  const heard: string[] = [];
  const open = (pid = process.pid, pipeline = 'pipeline') =>
    openSweeps(cacheFolderAt(root), pipeline, {
      start(_, path, onLine) {
        output = path;
        say = onLine;
        let resolve: (ended: { exitCode: number; said: string }) => void = () => undefined;
        const ended = new Promise<{ exitCode: number; said: string }>(done => {
          resolve = done;
        });
        end = async (exitCode, said = '') => {
          resolve({ exitCode, said });
          await ended;
        };
        return { pid, cancel: () => undefined, ended };
      },
      onLine: (name, line) => heard.push(`${name} ${line}`),
      now: () => new Date(0),
    });

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'sweeps-'));
    mkdirSync(join(root, 'state'));
    heard.length = 0;
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('run with what they print, then have rows, which a later server shows too', async () => {
    const sweeps = open();
    expect(sweeps.list(basisNow)).toEqual([]);
    const { name } = sweeps.start(ORDER, BASIS);
    say('[1/4]');
    expect(heard).toEqual([`${name} [1/4]`]);
    expect(sweeps.list(basisNow)).toEqual([
      { name: 's1', state: 'running', axes: ['preset'], values: ['a,b'], isOutdated: false, line: '[1/4]' },
    ]);
    expect(() => sweeps.rows(name)).toThrow(expect.objectContaining({ code: 'ui-not-found' }));
    writeFileSync(output, JSON.stringify(ROWS));
    await end(0);
    for (const one of [sweeps, open()]) {
      expect(one.list(basisNow)).toEqual([{ name: 's1', state: 'ended', axes: ['preset'], values: ['a,b'], isOutdated: false }]);
      expect(one.rows('s1')).toEqual({ ...ROWS, origin: { targets: [], basis: BASIS } });
    }
  });

  it('are outdated once the pipeline is another one, and where it is not known what it was', async () => {
    const sweeps = open();
    const axes = [{ name: 'evaluate.samples', values: '32' }];
    sweeps.start({ axes, targets: ['evaluate'] }, BASIS);
    const rows = { ...ROWS, axes: [{ name: 'evaluate.samples', sets: 'evaluate.samples', values: [32] }] };
    writeFileSync(output, JSON.stringify(rows));
    expect(sweeps.list(basisNow)[0]).toMatchObject({ state: 'ended', isOutdated: true });
    await end(0);
    const asked: (readonly string[])[] = [];
    const stateWith = (basis: string | undefined) =>
      open().list(targets => {
        asked.push(targets);
        return basis;
      })[0];
    expect([BASIS, 'b2', undefined].map(basis => stateWith(basis)?.isOutdated)).toEqual([false, true, true]);
    expect(asked).toEqual([['evaluate'], ['evaluate'], ['evaluate']]);
    expect(stateWith(BASIS)?.values).toEqual(['32']);
  });

  it('that fail say why, and one whose process is gone is lost', async () => {
    const sweeps = open();
    sweeps.start(ORDER, BASIS);
    await end(2, 'error[unknown-axis]');
    expect(sweeps.list(basisNow)).toEqual([
      { name: 's1', state: 'lost', axes: ['preset'], values: ['a,b'], isOutdated: false, said: 'error[unknown-axis]' },
    ]);
    // No process has this id: it is above the largest that Linux gives.
    open(2 ** 22 + 1).start(ORDER, BASIS);
    expect(open().list(basisNow)[0]).toEqual({ name: 's2', state: 'lost', axes: ['preset'], values: ['a,b'], isOutdated: false });
    // A process that could not be started has none.
    open(0).start(ORDER, BASIS);
    expect(open().list(basisNow)[0]).toMatchObject({ name: 's3', state: 'lost' });
  });

  it('have names of their own, also of two servers and of other pipelines, and the oldest go', () => {
    const [one, other] = [open(), open()];
    expect([one.start(ORDER, BASIS), other.start(ORDER, BASIS), one.start(ORDER, BASIS)].map(({ name }) => name)).toEqual([
      's1',
      's2',
      's3',
    ]);
    const nested = open(process.pid, 'pipelines/x');
    expect(nested.start(ORDER, BASIS).name).toBe('s1');
    expect(nested.list(basisNow)).toHaveLength(1);
    for (let i = 0; i < 60; i++) one.start(ORDER, BASIS);
    expect(readdirSync(join(root, 'state')).filter(file => file.startsWith('sweep-pipeline.')).length).toBe(50);
    expect(one.list(basisNow)[0]?.name).toBe('s63');
  });

  it('leave out files that are damaged, and read no other file', () => {
    writeFileSync(join(root, 'state/sweep-pipeline.s4.json'), '{');
    writeFileSync(join(root, 'state/sweep-pipeline.s5.json'), '[]');
    writeFileSync(join(root, 'state/platform.json'), '{}');
    const sweeps = open();
    expect(sweeps.list(basisNow)).toEqual([]);
    for (const name of ['../platform', 's4', 's01', 's9', ''])
      expect(() => sweeps.rows(name)).toThrow(expect.objectContaining({ code: 'ui-not-found' }));
    expect(sweeps.start(ORDER, BASIS).name).toBe('s6');
  });

  it.each<[string, object]>([
    ['no axis', { axes: [], targets: [] }],
    ['a name that is an option', { axes: [{ name: '--output', values: 'x' }], targets: [] }],
    ['a name with "="', { axes: [{ name: 'a=b', values: 'x' }], targets: [] }],
    ['values over two lines', { axes: [{ name: 'a', values: 'x\ny' }], targets: [] }],
    ['another field', { axes: [{ name: 'a', values: 'x' }], targets: [], output: '/etc/passwd' }],
  ])('with %s are refused', (_what, order) => {
    expect(readJsonShape(readerOf(SWEEP_ORDER), order as never).kind).toBe('problems');
  });

  it('with more than eight axes are refused', () => {
    const axes = Array.from({ length: 9 }, (_, index) => ({ name: `a${index}`, values: 'x' }));
    expect(() => open().start({ axes, targets: [] }, BASIS)).toThrow(expect.objectContaining({ code: 'ui-bad-request' }));
  });
});
