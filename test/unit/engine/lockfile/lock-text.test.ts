/** The text of a lock file equals its content, also for YAML parsers; all other text is rejected with its line. */
import fc from 'fast-check';
import { parse as parseYaml } from 'yaml';
import { digestBytes } from '../../../../src/base/digest.js';
import type { Json, JsonObject } from '../../../../src/base/json.js';
import { encodeLock } from '../../../../src/engine/lockfile/encode-lock.js';
import type { Facts, Lock, LockedResults } from '../../../../src/engine/lockfile/lock.js';
import { LockRefused } from '../../../../src/engine/lockfile/lock-refused.js';
import { encodeOutline, parseOutline, toJson } from '../../../../src/engine/lockfile/outline.js';
import { parseLock } from '../../../../src/engine/lockfile/parse-lock.js';
import type { Contents } from '../../../../src/engine/model/artifact.js';

const file = (text: string) => ({ kind: 'file' as const, digest: digestBytes(text), executable: false });
const facts = (params: JsonObject): Facts => ({
  plugin: 'quantize',
  version: 3,
  code: digestBytes('code'),
  params,
  inputs: { model: { ...file('model') }, 'parts.backbone': 'calibrate@backbone.ranges' },
  tools: { sh: digestBytes('sh') },
  env: ['LANG', 'TOKEN'],
});
const LOCK: Lock = {
  stages: new Map([
    [
      'export',
      {
        facts: facts({ size: [1, 3], name: 'a: b', deep: { on: true, none: null } }),
        results: { kind: 'same', outputs: { model: file('m') } },
      },
    ],
    ['bench', { facts: facts({}), results: { kind: 'measured' } }],
    [
      'quantize@backbone',
      {
        facts: facts({ empty: [], nothing: {} }),
        results: {
          kind: 'per-class',
          classes: new Map([
            ['linux-x64 node24 ort1.30.0 5b1c', { inputs: { ranges: file('r') }, outputs: { model: { ...file('x'), executable: true } } }],
            [
              'darwin-arm64 node24 ort1.30.0 77aa',
              { inputs: {}, outputs: { all: { kind: 'tree', digest: digestBytes('t'), executable: false } } },
            ],
          ]),
        },
      },
    ],
  ]),
};

const text: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    'true',
    'No',
    '~',
    '1e5',
    '0x1f',
    '-',
    '- a',
    'a: b',
    '#c',
    ' a',
    'a ',
    '"',
    "'",
    '<<',
    '__proto__',
    '.inf',
    '2026-11-21',
    '[',
    '{a',
    '\u2028',
    '\r',
  ),
);
const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(number => (Object.is(number, -0) ? 0 : number)),
    text,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4 }) as fc.Arbitrary<Json>,
  ),
})).value;
const members = fc.dictionary(text, json, { maxKeys: 5 }) as fc.Arbitrary<JsonObject>;
const content = fc.record({ kind: fc.constant('file' as const), digest: fc.string().map(digestBytes), executable: fc.boolean() });
const contents = fc.dictionary(fc.stringMatching(/^[a-z_-]{1,6}$/), content, { maxKeys: 3 }) as fc.Arbitrary<Contents>;
const results: fc.Arbitrary<LockedResults> = fc.oneof(
  fc.record({ kind: fc.constant('same' as const), outputs: contents }),
  fc.constant({ kind: 'measured' as const }),
  fc.record({
    kind: fc.constant('per-class' as const),
    classes: fc
      .array(fc.tuple(text, fc.record({ inputs: contents, outputs: contents })), { maxLength: 3 })
      .map(entries => new Map(entries)),
  }),
);
const locks: fc.Arbitrary<Lock> = fc
  .array(fc.tuple(text, fc.record({ facts: members.map(facts), results })), { maxLength: 5 })
  .map(entries => ({ stages: new Map(entries) }));

const fail = (line: number, message: string): never => {
  throw new Error(`${line}: ${message}`);
};

describe('the lines of a document', () => {
  it('are the document, for us and for any reader of YAML', () => {
    fc.assert(
      fc.property(members, document => {
        const lines = encodeOutline(document).join('\n');
        expect(toJson(parseOutline(lines, fail))).toEqual(document);
        if (Object.keys(document).length > 0) expect(parseYaml(lines, { version: '1.2' })).toEqual(document);
      }),
      { numRuns: 150 },
    );
  });
});

describe('the text of a lock', () => {
  it('is the lock', () => {
    fc.assert(
      fc.property(locks, lock => {
        const written = encodeLock(lock);
        const read = parseLock(written, 'pipeline.lock');
        expect(withoutPlaces(read)).toEqual(lock);
        expect(encodeLock(read)).toBe(written);
      }),
      { numRuns: 80 },
    );
  });

  it('does not depend on the order of its content', () => {
    const turned: Lock = { stages: new Map([...LOCK.stages].reverse()) };

    expect(encodeLock(turned)).toBe(encodeLock(LOCK));
  });

  it('may have the line endings of the system, comments and empty lines', () => {
    const written = encodeLock(LOCK).replaceAll('\n', '\r\n').replace('stages:', '# mine\r\n\r\nstages:');

    expect(withoutPlaces(parseLock(written, 'pipeline.lock'))).toEqual(LOCK);
  });

  it('has one fact per line, and names neither time nor place', () => {
    const d = (of: string): string => digestBytes(of);
    const shared = `\
    inputs:
      model: file ${d('model')}
      parts.backbone: calibrate@backbone.ranges
    tools:
      sh: ${d('sh')}
    env:
      - LANG
      - TOKEN
`;

    expect(encodeLock({ stages: new Map([...LOCK.stages].slice(1)) })).toBe(`\
# What tanren built last with every gate met: docs/lock.md. \`tanren build\` writes it; commit it, and do not edit it.
version: 1

stages:

  bench:
    plugin: quantize
    version: 3
    code: ${d('code')}
${shared}    outputs: measured

  quantize@backbone:
    plugin: quantize
    version: 3
    code: ${d('code')}
    params:
      empty: []
      nothing: {}
${shared}    classes:
      darwin-arm64 node24 ort1.30.0 77aa:
        outputs:
          all: folder ${d('t')}
      linux-x64 node24 ort1.30.0 5b1c:
        inputs:
          ranges: file ${d('r')}
        outputs:
          model: file ${d('x')} executable

# end
`);
  });
});

describe('a damaged lock', () => {
  const lines = encodeLock(LOCK).split('\n');

  it('is refused at the truncated line, or read without the missing entries', () => {
    for (let index = 0; index < lines.length; index++) {
      const line = lines[index] ?? '';
      for (const cut of [1, Math.floor(line.length / 2), line.length - 1]) {
        const damaged = [...lines.slice(0, index), line.slice(0, cut)].join('\n');
        const end = tryParse(damaged);
        if (end instanceof LockRefused) expect(end.diagnostics[0]?.span?.line).toBeLessThanOrEqual(index + 1);
        else expect([...end.stages.keys()].every(id => LOCK.stages.has(id))).toBe(true);
      }
    }
  });

  it('is refused at any line that is turned into nonsense', () => {
    for (let index = 0; index < lines.length; index++) {
      const line = lines[index] ?? '';
      if (line === '' || line.startsWith('#')) continue;
      const unmarked = line.includes(':') ? line.replace(':', '') : line.replace('- ', '');
      for (const nonsense of [`${line.slice(0, -1)}\u0000`, `\t${line}`, ` ${line}`, unmarked, `${line} !!js/function`]) {
        const end = tryParse(lines.with(index, nonsense).join('\n'));
        expect(end).toBeInstanceOf(LockRefused);
        if (!(end instanceof LockRefused)) continue;
        expect(end.code).toBe('lock-damaged');
        expect(Math.abs((end.diagnostics[0]?.span?.line ?? 0) - index - 1)).toBeLessThanOrEqual(1);
      }
    }
  });

  it('never does anything but be refused or read, whatever the bytes', () => {
    const written = encodeLock(LOCK);
    fc.assert(
      fc.property(fc.nat(written.length), fc.nat(200), fc.string({ unit: 'binary', maxLength: 20 }), (at, length, other) => {
        tryParse(written.slice(0, at) + other + written.slice(at + length));
      }),
      { numRuns: 250 },
    );
  });

  it.each([
    ['a line twice', ['  export:', '  export:'], 'lock-damaged', 6],
    ['a conflict', ['  export:', '<<<<<<< HEAD\n  export:\n=======\n  export:\n>>>>>>> other'], 'lock-conflict', 20],
    ['an unknown member', ['    plugin: quantize', '    author: me\n    plugin: quantize'], 'lock-damaged', 7],
    ['a version to come', ['version: 1', 'version: 2'], 'lock-newer', 2],
    ['no version', ['version: 1', ''], 'lock-damaged', 1],
  ])('with %s is refused, with line and help', (_, [from = '', to = ''], code, line) => {
    const written = encodeLock(LOCK);
    const damaged = from === to ? written.replace(/( {2}bench:\n)/, '$1$1') : written.replace(from, to);
    const end = tryParse(damaged);

    expect(end).toBeInstanceOf(LockRefused);
    expect(end).toMatchObject({ code, diagnostics: [{ code, help: expect.any(String), span: { file: 'pipeline.lock', line } }] });
  });

  it('cannot exhaust the stack', () => {
    const deep = Array.from({ length: 5000 }, (_, depth) => `${'  '.repeat(depth)}a:`).join('\n');

    expect(tryParse(`version: 1\nstages:\n${deep}`)).toBeInstanceOf(LockRefused);
    expect(tryParse(`version: 1\nstages: ${'['.repeat(200_000)}`)).toBeInstanceOf(LockRefused);
  });
});

function tryParse(damaged: string): Lock | LockRefused {
  try {
    return parseLock(damaged, 'pipeline.lock');
  } catch (error) {
    if (error instanceof LockRefused) return error;
    throw error;
  }
}

function withoutPlaces({ stages }: Lock): Lock {
  return { stages: new Map([...stages].map(([id, { facts: read, results: found }]) => [id, { facts: read, results: found }])) };
}
