/** Every error in a pipeline file is reported at its position, with help. */
import { formatDiagnostic } from '../../../../src/engine/model/diagnostic.js';
import { headsOf, type PipelineCase, planText } from '../../../support/pipeline-file.js';

/** Code, file text, start of the message with its position, part of the help, and further options. */
type Case = readonly [code: string, text: string, head: string, help: string | undefined, options?: PipelineCase];

const STAGES = 'version: 1\nstages:\n';

const CASES: readonly Case[] = [
  ['yaml-syntax', `${STAGES}  a: {uses: make\n`, '4:1 error[yaml-syntax]: Flow map', undefined],
  [
    'yaml-syntax',
    `${STAGES}  a: {uses: make}\n  a: {uses: make}\n`,
    '4:3 error[yaml-syntax]: duplicate key "a": keys of a map must be unique',
    undefined,
  ],
  ['yaml-value', `${STAGES}  a: {uses: make, with: {size: .nan}}\n`, '3:32 error[yaml-value]: NaN is not a value', undefined],
  ['empty-file', '# nothing\n', '1:1 error[empty-file]: the file is empty', 'tanren init'],
  ['missing-key', 'stages: {a: {uses: make}}\n', '1:1 error[missing-key]: the pipeline needs "version"', undefined],
  [
    'unknown-key',
    `${STAGES}  a: {uses: make, wiht: {}}\n`,
    '3:19 error[unknown-key]: "stages.a" of the pipeline has no "wiht"',
    'did you mean "with"?',
  ],
  [
    'bad-key',
    'version: 2\nstages: {a: {uses: make}}\n',
    '1:10 error[bad-key]: "version" of the pipeline must be 1; it is 2',
    'Version of this file format.',
  ],

  ['bad-key', 'version: 1\nstages: {}\n', '2:9 error[bad-key]: "stages" of the pipeline needs at least one entry; it is {}', undefined],
  ['bad-key', 'version: 1\nstages:\n', '2:8 error[bad-key]: "stages" of the pipeline must be a map; it is null', undefined],
  ['bad-key', 'version: 1\nstages: []\n', '2:9 error[bad-key]: "stages" of the pipeline must be a map; it is []', undefined],
  [
    'bad-name',
    'version: 1\nstages:\n  a b: {uses: make}\n',
    '3:3 error[bad-name]: "a b" in "stages" of the pipeline is not a valid name',
    'letters',
  ],
  [
    'unknown-plugin',
    `${STAGES}  a: {uses: mak}\n`,
    '3:13 error[unknown-plugin]: stage "a" uses unknown plugin "mak"',
    'did you mean "make"?',
  ],
  [
    'unknown-setting',
    `${STAGES}  a: {uses: make, with: {siez: 3}}\n`,
    '3:26 error[unknown-setting]: stage "a" has no "siez"',
    'did you mean "size"?',
  ],
  ['yaml-syntax', `${STAGES}  a: {uses: !weird make}\n`, '3:13 error[yaml-syntax]: Unresolved tag: !weird', undefined],
  ['missing-setting', `${STAGES}  a: {uses: strict}\n`, '3:13 error[missing-setting]: stage "a" needs "level"', undefined],
  [
    'plugin-declaration',
    `${STAGES}  a: {uses: strict, with: {level: 11}}\n`,
    '3:27 error[plugin-declaration]: plugin "strict" fails on these params: no such level',
    undefined,
  ],
  [
    'plugin-declaration',
    `${STAGES}  a: {uses: strict, with: {level: 10}}\n`,
    '3:27 error[plugin-declaration]: plugin "strict" fails on these params: port "x" is of unknown kind "blueprint"; known kinds: "any"',
    undefined,
  ],
  [
    'bad-setting',
    `${STAGES}  a: {uses: make, with: {size: big}}\n`,
    '3:32 error[bad-setting]: "size" of stage "a" must be an integer; it is "big"',
    undefined,
  ],
  [
    'bad-setting',
    `${STAGES}  a: {uses: make, with: {mode: fats}}\n`,
    '3:32 error[bad-setting]: "mode" of stage "a" is "fats"; expected one of "fast", "exact"',
    'did you mean "fast"?',
  ],
  ['bad-setting', `${STAGES}  a: {uses: make, with: {size: 13}}\n`, '3:25 error[bad-setting]: stage "a": size is 13', undefined],
  [
    'bad-setting',
    `${STAGES}  a: {uses: make, with: {list: [1, 2, x]}}\n`,
    '3:39 error[bad-setting]: "list.2" of stage "a" must be an integer; it is "x"',
    undefined,
  ],
  [
    'unknown-port',
    `${STAGES}  a: {uses: make, inputs: {form: "\${sources.x}"}}\n`,
    '3:28 error[unknown-port]: stage "a" has no input "form"',
    'did you mean "from"?',
  ],
  [
    'unknown-port',
    `${STAGES}  a: {uses: make}\n  b: {uses: judge, inputs: {model: a.modle}}\n`,
    '4:36 error[unknown-port]: stage "a" has no output "modle"',
    'did you mean "model"?',
  ],
  ['missing-input', `${STAGES}  b: {uses: judge}\n`, '3:3 error[missing-input]: stage "b" needs the input "model"', undefined],
  [
    'unknown-stage',
    `${STAGES}  make1: {uses: make}\n  b: {uses: judge, inputs: {model: make2.model}}\n`,
    '4:36 error[unknown-stage]: unknown stage "make2"',
    'did you mean "make1"?',
  ],
  [
    'unknown-instance',
    `${STAGES}  a: {uses: make, foreach: [x, y]}\n  b: {uses: judge, inputs: {model: a.model}}\n`,
    '4:36 error[unknown-instance]: "a.model" names no instance of "a"',
    '"a@x.model", "a@y.model"',
  ],
  [
    'kind-mismatch',
    `${STAGES}  a: {uses: make}\n  b: {uses: judge, inputs: {model: a.report}}\n`,
    '4:36 error[kind-mismatch]: "a.report" is of kind report; the port takes onnx-model',
    undefined,
  ],
  [
    'unknown-source',
    `version: 1\nsources: {weights: w.pth}\nstages:\n  a: {uses: make, inputs: {from: "\${sources.weigths}"}}\n`,
    '4:34 error[unknown-source]: unknown source "weigths"',
    'did you mean "weights"?',
  ],
  [
    'missing-entry',
    `version: 1\nsources: {val: {images: i}}\nstages:\n  a: {uses: make}\n  b: {uses: judge, inputs: {model: a.model, data: "\${sources.val}"}}\n`,
    '5:51 error[missing-entry]: input "data" needs "annotations", which source "val" does not have',
    undefined,
  ],
  [
    'unknown-entry',
    `version: 1\nsources: {val: v}\nstages:\n  a: {uses: make}\n  b: {uses: judge, inputs: {model: a.model, data: {annotations: "\${sources.val}", image: "\${sources.val}"}}}\n`,
    '5:83 error[unknown-entry]: input "data" has no entry "image"',
    'did you mean "images"?',
  ],
  [
    'bad-reference',
    `${STAGES}  b: {uses: judge, inputs: {model: some file}}\n`,
    '3:36 error[bad-reference]: "some file" is not a reference to an artifact',
    'write "stage.port"',
  ],
  [
    'unknown-reference',
    `version: 1\nparams: {size: 3}\nstages:\n  a: {uses: make, with: {size: "\${siez}"}}\n`,
    '4:32 error[unknown-reference]: ${siez} is undefined here',
    'did you mean "${size}"?',
  ],
  [
    'cycle',
    `${STAGES}  a: {uses: judge, inputs: {model: c.model}}\n  b: {uses: judge, inputs: {model: a.model}}\n  c: {uses: judge, inputs: {model: b.model}}\n`,
    '4:36 error[cycle]: dependency cycle: a.model → b.model → c.model → a.model',
    undefined,
  ],
  ['cycle', `${STAGES}  a: {uses: judge, inputs: {model: a.model}}\n`, '3:36 error[cycle]: dependency cycle: a.model → a.model', undefined],
  [
    'gate-without-metrics',
    `${STAGES}  a: {uses: make, gate: {x: ">= 1"}}\n`,
    '3:25 error[gate-without-metrics]: stage "a" has a gate, but no output of kind metrics',
    undefined,
  ],
  [
    'bad-gate',
    `${STAGES}  a: {uses: make}\n  b: {uses: judge, inputs: {model: a.model}, gate: {x: "about 1"}}\n`,
    '4:56 error[bad-gate]: "about 1" is not a valid bound',
    '>= -0.008',
  ],
  ['bad-duration', `${STAGES}  a: {uses: make, timeout: soon}\n`, '3:28 error[bad-duration]: "soon" is not a duration', '10m'],
  [
    'unknown-pool',
    `version: 1\npools: {npu: 1}\nstages:\n  a: {uses: make, resources: {npv: 1}}\n`,
    '4:31 error[unknown-pool]: unknown pool "npv"',
    'did you mean "npu"?',
  ],
  [
    'pool-too-small',
    `version: 1\npools: {npu: 1}\nstages:\n  a: {uses: make, resources: {npu: 2}}\n`,
    '4:36 error[pool-too-small]: stage "a" takes 2 of pool "npu", which has 1',
    undefined,
  ],
  [
    'pool-too-small',
    `version: 1\npools: {memory: 4GB}\nstages:\n  a: {uses: make, resources: {memory: 6GB}}\n`,
    '4:39 error[pool-too-small]: stage "a" takes 6.0 GB of pool "memory", which has 4.0 GB',
    undefined,
  ],
  [
    'bad-stage',
    `${STAGES}  a: {uses: make, foreach: [x], matrix: {m: [1]}}\n`,
    '3:3 error[bad-stage]: stage "a" has both foreach and matrix',
    undefined,
  ],
  [
    'duplicate-instance',
    `${STAGES}  a: {uses: make, foreach: [x, x]}\n`,
    '3:32 error[duplicate-instance]: stage "a" has two instances "x"',
    undefined,
  ],
  ...(
    [
      ['artifacts/a/o', 'is the artifact of a stage: artifacts/a/o', 'connect it as "stage.port", so that the stage is built first'],
      ['./cache/logs', 'is in the cache: ./cache/logs', 'move the file out of cache/'],
      ['.', 'holds artifacts/, which every build writes to: .', 'name the folders in it that the stage needs'],
    ] as const
  ).map(
    ([path, why, help]): Case => [
      'source-is-written',
      `version: 1\nsources: {s: ${path}}\nstages:\n  a: {uses: make}\n`,
      `2:14 error[source-is-written]: source "s" ${why}`,
      help,
    ],
  ),
  [
    'names-meet',
    `${STAGES}  a: {uses: make}\n  A: {uses: make}\n`,
    '4:3 error[names-meet]: the stages "a" and "A" differ by case alone',
    'on many file systems their artifacts would be in one folder: rename one of them',
  ],
  [
    'bad-name',
    `${STAGES}  __proto__: {uses: make}\n`,
    '3:3 error[bad-name]: "__proto__" in "stages" of the pipeline is not a valid name',
    'names have letters, digits, "_" and "-", and start with a letter or "_"; "__proto__" is reserved',
  ],
  [
    'unknown-param',
    `version: 1\nparams: {preset: a}\nstages: {a: {uses: make, with: {mode: "\${preset}"}}}\n`,
    'error[unknown-param]: the pipeline has no parameter "prest"',
    'did you mean "preset"?',
    { params: ['prest=b'] },
  ],
  [
    'bad-param',
    `version: 1\nparams: {size: 3}\nstages: {a: {uses: make, with: {size: "\${size}"}}}\n`,
    'error[bad-param]: parameter "size" is "many"; expected an integer',
    undefined,
    { params: ['size=many'] },
  ],
  [
    'bad-param',
    `version: 1\nparams: {mode: {enum: [fast, exact], default: fast}}\nstages: {a: {uses: make, with: {mode: "\${mode}"}}}\n`,
    'error[bad-param]: parameter "mode" is "exat"; expected one of "fast", "exact"',
    'did you mean "exact"?',
    { params: ['mode=exat'] },
  ],
  [
    'bad-param',
    'version: 1\nstages: {a: {uses: make}}\n',
    'error[bad-param]: -p size: expected name=value',
    undefined,
    { params: ['size'] },
  ],
  [
    'no-params-file',
    'version: 1\nstages: {a: {uses: make}}\n',
    'error[no-params-file]: p.yaml: file not found',
    undefined,
    { paramsFiles: ['p.yaml'] },
  ],
  [
    'plugin-load',
    `version: 1\nplugins: {mine: ./mine.js}\nstages: {a: {uses: make}}\n`,
    '2:17 error[plugin-load]: plugin "mine" does not load: no ./mine.js for mine',
    'docs/writing-a-stage.md',
  ],
  [
    'duplicate-plugin',
    `version: 1\nplugins: {make: ./mine.js}\nstages: {a: {uses: make}}\n`,
    '2:11 error[duplicate-plugin]: "make" is a built-in plugin',
    undefined,
  ],
  [
    'name-collision',
    `${STAGES}  fast: {uses: make}\n`,
    '3:3 error[name-collision]: artifacts/fast would belong to this stage and to pipelines/fast.yaml',
    undefined,
    { files: { 'pipelines/fast.yaml': '' } },
  ],
  [
    'unused-param',
    `version: 1\nparams: {size: 3}\nstages: {a: {uses: make}}\n`,
    '2:10 warning[unused-param]: nothing uses the parameter "size"',
    undefined,
  ],
];

describe('a mistake in the pipeline file', () => {
  it.each(CASES.map(entry => ({ name: entry[0], entry })))('$name is said at its place', async ({
    entry: [, text, head, help, options],
  }) => {
    const loaded = await planText(text, options);

    expect(headsOf(loaded)).toContainEqual(expect.stringContaining(head));
    const found = loaded.diagnostics.find((_, index) => headsOf(loaded)[index]?.includes(head));
    if (help === undefined) expect(found).toBeDefined();
    else expect(found?.help).toContain(help);
    expect(loaded.plan === undefined).toBe(found?.severity === 'error');
  });

  it('does not hide other errors: all are reported at once, in file order', async () => {
    const loaded = await planText(
      `${STAGES}  a: {uses: mak}\n  b: {uses: make, with: {size: x, siez: 1}}\n  c: {uses: judge, inputs: {model: b.modle}}\n`,
    );

    expect(headsOf(loaded).map(head => head.split(':').slice(0, 2).join(':'))).toEqual([
      '3:13 error[unknown-plugin]',
      '4:29 error[bad-setting]'.replace('29', '32'),
      '4:35 error[unknown-setting]',
    ]);
  });

  it('the references of a stage are checked too where its plugin or settings are wrong', async () => {
    const text = `version: 1
sources: {list: {a: x}}
stages:
  a: {uses: mak, inputs: {in: z.out, more: {b: "\${sources.lost}"}, all: "\${sources.list}", one: "\${sources.list.c}"}}
  b: {uses: make, with: {siez: 3}, inputs: {in: "a.anything"}}
`;
    expect(headsOf(await planText(text)).map(head => head.split(':').slice(0, 2).join(':'))).toEqual([
      '4:13 error[unknown-plugin]',
      '4:31 error[unknown-stage]',
      '4:48 error[unknown-source]',
      '4:97 error[unknown-source]',
      '5:26 error[unknown-setting]',
    ]);
  });

  it('a duplicate key hides no other error: its first value is checked with the rest of the file', async () => {
    const loaded = await planText(
      `${STAGES}  a: {uses: mak, with: &level {size: 1}}\n  a: {uses: make, with: &other {size: 1}}\n  b: {uses: make, with: {<<: *other, siez: 1}}\n`,
    );

    expect(headsOf(loaded).map(head => head.split(':').slice(0, 2).join(':'))).toEqual([
      '3:13 error[unknown-plugin]',
      '4:3 error[yaml-syntax]',
      '5:38 error[unknown-setting]',
    ]);
  });

  it('in several instances of one stage is reported once', async () => {
    const loaded = await planText(`${STAGES}  a: {uses: make, foreach: [x, y, z], with: {size: 0}}\n`);

    expect(headsOf(loaded)).toHaveLength(1);
  });

  it('is shown with the source line, a mark under the place, and help', async () => {
    const loaded = await planText(`${STAGES}  int8: {uses: judgge}\n`);

    expect(loaded.diagnostics.map(item => formatDiagnostic(item, loaded.sources)).join('\n')).toBe(
      [
        'pipeline.yaml:3:16: error[unknown-plugin]: stage "int8" uses unknown plugin "judgge"',
        '  3 |   int8: {uses: judgge}',
        '    |                ^^^^^^',
        '  help: did you mean "judge"?',
      ].join('\n'),
    );
  });

  it('a missing file is reported without a location', async () => {
    const loaded = await planText('version: 1\nstages: {a: {uses: make}}\n', { file: 'x.yaml', paramsFiles: ['none.yaml'] });
    expect(headsOf(loaded)).toEqual(['error[no-params-file]: none.yaml: file not found']);
  });

  it('an alias that multiplies without end is refused', async () => {
    const bomb = [
      'a: &a [x, x, x, x, x, x, x, x, x, x]',
      ...'bcdefg'.split('').map((name, i) => `${name}: &${name} [${Array(10).fill(`*${'abcdef'[i]}`).join(', ')}]`),
    ].join('\n');
    const loaded = await planText(bomb);
    expect(headsOf(loaded).some(head => head.includes('error[yaml-too-large]'))).toBe(true);
  });
});
