/** Pipeline files that are hostile by size, depth or multiplication: each is planned, or refused with a code, in bounded time. */
import { formatDiagnostic, makeDiagnosticList, sortDiagnostics } from '../../../../src/engine/model/diagnostic.js';
import { headsOf, planText } from '../../../support/pipeline-file.js';

const STAGES = 'version: 1\nstages:\n';
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));
const codesOf = (loaded: Awaited<ReturnType<typeof planText>>): readonly string[] => loaded.diagnostics.map(({ code }) => code);

describe('aliases and merges', () => {
  const base = `  s: &s {uses: make, with: &w {size: 4}}\n`;

  it('20,000 aliases and merges are planned in linear time', async () => {
    const text = `${STAGES}${base}${times(20_000, i => `  s${i}: {<<: *s, with: *w}\n`).join('')}`;
    const { plan } = await planText(text);
    expect(plan?.stages.size).toBe(20_001);
    expect([...(plan?.stages.values() ?? [])].every(({ params }) => params.size === 4)).toBe(true);
  }, 60_000);

  it('a map that merges one that merges one, 5,000 times, is the same as if it were written out', async () => {
    const text = `${STAGES}${base}${times(5000, i => `  s${i}: &s${i} {<<: *s${i === 0 ? '' : i - 1}, priority: ${i % 7}}\n`).join('')}`;
    const { plan } = await planText(text);
    const last = [...(plan?.stages.values() ?? [])].at(-1);
    expect([last?.params.size, last?.priority]).toEqual([4, 4999 % 7]);
  });

  it('keys of the map override merged keys, wherever the merge key is', async () => {
    const { plan } = await planText(`${STAGES}${base}  b: {with: {size: 1}, <<: *s}\n  c: {<<: [*s, {uses: judge}], with: {size: 2}}\n`);
    expect([...(plan?.stages.values() ?? [])].map(({ id, params, plugin }) => [id, params.size, plugin.name])).toEqual([
      ['s', 4, 'make'],
      ['b', 1, 'make'],
      ['c', 2, 'make'],
    ]);
  });

  it.each([
    ['an alias of nothing', '{uses: *x}', 'no anchor of that name precedes it'],
    ['an alias in what it names', '&a {uses: *a}', 'it is part of the value that it names'],
  ])('%s is refused at its place', async (_what, stage, why) => {
    const [head] = headsOf(await planText(`${STAGES}  a: ${stage}\n`));
    expect(head).toContain('error[yaml-syntax]: the alias');
    expect(head).toContain(why);
  });
});

describe('size and depth', () => {
  it.each([
    ['flow lists', '['.repeat(100_000)],
    ['flow maps', '{a: '.repeat(100_000)],
    ['explicit keys', '? '.repeat(100_000)],
    ['block maps', times(3000, i => `\n${' '.repeat(i + 3)}a:`).join('')],
  ])('%s nested without end are refused', async (_what, text) => {
    expect(codesOf(await planText(`version: 1\nparams:\n  x: ${text}`))).toEqual(['yaml-too-large']);
  });

  it('a file beyond the stated number of characters is refused', async () => {
    expect(codesOf(await planText(`version: 1\n#${'x'.repeat(16_000_000)}`))).toEqual(['yaml-too-large']);
  });

  it('a second document is not passed over in silence', async () => {
    const loaded = await planText(`${STAGES}  a: {uses: make}\n---\nversion: 1\n`);
    expect(headsOf(loaded)).toEqual(['4:1 error[yaml-syntax]: a second YAML document begins here: a file holds one']);
  });

  it('an integer that a number cannot hold is refused, not rounded', async () => {
    const loaded = await planText(`version: 1\nparams: {n: 12345678901234567890, f: 1e20}\nstages: {a: {uses: make}}\n`);
    expect(headsOf(loaded)[0]).toBe('2:13 error[yaml-value]: 12345678901234567890 has more digits than a number can hold');
  });
});

describe('a matrix product', () => {
  const hundred = `[${times(100, i => `v${i}`).join(', ')}]`;

  it('a matrix beyond the stated number of stages is refused with its count, and not expanded', async () => {
    const loaded = await planText(`${STAGES}  a: {uses: make, matrix: {a: ${hundred}, b: ${hundred}, c: ${hundred}, d: ${hundred}}}\n`);
    expect(headsOf(loaded)[0]).toContain('error[too-many-stages]: stage "a" would be 100,000,000 stages; a pipeline has at most 100,000');
  });

  it('all stages of a file count together', async () => {
    const wide = `matrix: {a: ${hundred}, b: ${hundred}, c: [1, 2, 3, 4, 5, 6]}`;
    expect(codesOf(await planText(`${STAGES}  a: {uses: make, ${wide}}\n  b: {uses: make, ${wide}}\n`))).toContain('too-many-stages');
  }, 60_000);

  it('parameters that stand for themselves are refused', async () => {
    const loaded = await planText(`version: 1\nparams: {a: "\${b}", b: "\${a}"}\nstages:\n  s: {uses: make, with: {mode: "\${a}"}}\n`);
    expect(codesOf(loaded)).toContain('bad-reference');
  });

  it('parameters that double each other 30 times are refused', async () => {
    const params = times(30, i => `  p${i + 1}: ["\${p${i}}", "\${p${i}}"]\n`).join('');
    const loaded = await planText(`version: 1\nparams:\n  p0: [1]\n${params}stages:\n  s: {uses: make, with: {list: "\${p30}"}}\n`);
    expect(codesOf(loaded)).toContain('references-too-large');
  }, 60_000);
});

describe('long chains', () => {
  const chain = (order: (lines: string[]) => string[]): string =>
    `${STAGES}${order(times(10_000, i => `  s${i}: {uses: make${i === 0 ? '' : `, inputs: {from: s${i - 1}.model}`}}\n`)).join('')}`;

  it.each<[string, (lines: string[]) => string[]]>([
    ['in order', lines => lines],
    ['in reverse', lines => lines.reverse()],
    ['interleaved', lines => [...lines.filter((_, i) => i % 2 === 1), ...lines.filter((_, i) => i % 2 === 0)]],
  ])(
    '10,000 stages %s are planned in the order of their data',
    async (_what, order) => {
      const { plan } = await planText(chain(order));
      expect([...(plan?.stages.keys() ?? [])]).toEqual(times(10_000, i => `s${i}`));
    },
    60_000,
  );

  it('a cycle of 10,000 stages is reported in a short line', async () => {
    const loaded = await planText(chain(lines => lines).replace('s0: {uses: make', 's0: {uses: make, inputs: {from: s9999.model}'));
    expect(headsOf(loaded)[0]).toMatch(/error\[cycle\]: dependency cycle: .* … 9960 more … → /);
  }, 60_000);
});

describe('many mistakes', () => {
  it('the first 200 are reported with help, the others are counted', async () => {
    const loaded = await planText(`${STAGES}${times(3000, i => `  s${i}: {uses: make, inputs: {from: t${i}.model}}\n`).join('')}`);
    const codes = codesOf(loaded);
    expect([codes.length, codes[0], codes.at(-1)]).toEqual([201, 'unknown-stage', 'more-problems']);
    expect(loaded.diagnostics.at(-1)?.message).toBe('2800 more problems are not shown');
  }, 60_000);

  it('a line of megabytes is shown only around the location', () => {
    const list = makeDiagnosticList();
    const span = { file: 'x', line: 1, column: 1_000_001, endLine: 1, endColumn: 1_000_004 };
    list.error('bad-key', span, 'y'.repeat(5000));
    const [diagnostic] = sortDiagnostics(list);
    const shown =
      diagnostic === undefined ? '' : formatDiagnostic(diagnostic, new Map([['x', `${'a'.repeat(1_000_000)}bad${'c'.repeat(1_000_000)}`]]));
    expect(shown.length).toBeLessThan(4000);
    expect(shown).toContain('aaabadccc');
  });
});
