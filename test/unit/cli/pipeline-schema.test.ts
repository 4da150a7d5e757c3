/** docs/pipeline.schema.json matches the plugins' declarations, and accepts and rejects what the planner does. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Ajv } from 'ajv';
import { parse, stringify } from 'yaml';
import type { JsonObject } from '../../../src/base/json.js';
import { formatPipelineSchema } from '../../../src/cli/commands/project/schema.js';
import { makeBuiltInRegistry } from '../../../src/cli/pipeline/plugins.js';
import { BUILT_IN_PLUGINS } from '../../../stages/registry.js';
import { headsOf, planText } from '../../support/pipeline-file.js';
import { DIST } from '../../support/world.js';

const ROOT = dirname(DIST);
const schema = JSON.parse(formatPipelineSchema()) as JsonObject;
const validate = new Ajv({ allErrors: true, strict: false, allowUnionTypes: true }).compile(schema);
const errorsOf = (text: string): string[] =>
  validate(parse(text)) ? [] : (validate.errors ?? []).map(error => `${error.instancePath} ${error.message}`);

describe('docs/pipeline-format.md', () => {
  it('starts with a complete, valid pipeline', async () => {
    const text =
      /```yaml\n(# yaml-language-server[\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/pipeline-format.md'), 'utf8'))?.[1] ?? '';
    const loaded = await planText(text, { builtIn: makeBuiltInRegistry(DIST) });

    expect(headsOf(loaded)).toEqual([]);
    expect([...(loaded.plan?.stages.keys() ?? [])]).toEqual(['simplify', 'size']);
    expect(errorsOf(text)).toEqual([]);
  });
});

describe('every YAML example of the documentation', () => {
  const pages = ['docs/pipeline-format.md', 'docs/writing-a-stage.md', 'docs/your-own-model.md', 'docs/preprocessing.md', ...stagePages()];
  it.each(pages.flatMap(page => blocksOf(page)))('%s, example %i, is valid', (_page, _number, text) => {
    expect(errorsOf(stringify(completed(parse(text, { merge: true }) as JsonObject)))).toEqual([]);
  });

  it('is found', () => {
    for (const page of pages) expect([page, blocksOf(page).length]).not.toEqual([page, 0]);
  });
});

function stagePages(): readonly string[] {
  return readdirSync(join(ROOT, 'docs/stages'))
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/stages/${name}`);
}

function blocksOf(page: string): readonly (readonly [string, number, string])[] {
  const blocks = readFileSync(join(ROOT, page), 'utf8').matchAll(/^ *```yaml\n([\s\S]*?)^ *```/gm);
  return [...blocks].map(([, text = ''], index) => [page, index + 1, text] as const);
}

const TOP = ['version', 'params', 'sources', 'plugins', 'pools', 'stages'];
const OF_STAGE = ['uses', 'with', 'inputs', 'foreach', 'matrix', 'gate', 'resources', 'timeout', 'retries', 'env'];

/** Completes an example to a whole file. An example is a part of a file, some stages, or a part of a stage. */
function completed(example: JsonObject): JsonObject {
  return { plugins: { some: './some.js' }, ...completedStages(example) };
}

function completedStages(example: JsonObject): JsonObject {
  const keys = Object.keys(example);
  const stages = { some: { uses: 'some' } };
  if (keys.every(key => TOP.includes(key))) return { version: 1, stages, ...example };
  if (keys.every(key => OF_STAGE.includes(key))) return { version: 1, stages: { some: { uses: 'some', ...example } } };
  return { version: 1, stages: example };
}

describe('docs/errors.md', () => {
  it('lists every diagnostic code', () => {
    const documented = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8');
    const files = ['src/engine/config', 'src/engine/planning', 'src/engine/model'].flatMap(folder =>
      readdirSync(join(ROOT, folder)).map(name => join(ROOT, folder, name)),
    );
    const codes = files.flatMap(file =>
      [...readFileSync(file, 'utf8').matchAll(/diagnostics\.(?:error|warning)\(\s*'([a-z-]+)'/g)].map(match => match[1] ?? ''),
    );

    expect(codes.length).toBeGreaterThan(30);
    expect(codes.filter(code => !documented.includes(`\`${code}\``))).toEqual([]);
  });

  it('lists every code of the command line', () => {
    const documented = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8');
    const files = readdirSync(join(ROOT, 'src/cli'), { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'));
    const written = files.flatMap(name =>
      [
        ...readFileSync(join(ROOT, 'src/cli', name), 'utf8').matchAll(
          /error\[([a-z-]+)\]: \$|code: '([a-z-]+)'|new \w*Error\(\s*'([a-z-]+)'/g,
        ),
      ].map(match => match[1] ?? match[2] ?? match[3] ?? ''),
    );
    const parsed = [
      'unknown-command',
      'unknown-option',
      'missing-argument',
      'option-missing-argument',
      'excess-arguments',
      'invalid-argument',
    ];

    expect(written).toEqual(expect.arrayContaining(['file-exists', 'not-writable', 'unknown-stage']));
    expect([...written, ...parsed].filter(code => !documented.includes(`\`${code}\``))).toEqual([]);
  });
});

describe('the published schema of pipeline files', () => {
  it('is current: tanren schema > docs/pipeline.schema.json', () => {
    const published = readFileSync(join(ROOT, 'docs/pipeline.schema.json'), 'utf8');
    expect(published === formatPipelineSchema() ? 'current' : 'write it again: tanren schema > docs/pipeline.schema.json').toBe('current');
  });

  const pipelines = readdirSync(join(ROOT, 'pipelines')).filter(name => name.endsWith('.yaml'));
  it.each(['pipeline.yaml', ...pipelines.map(name => `pipelines/${name}`)])('accepts %s', path => {
    const file = parse(readFileSync(join(ROOT, path), 'utf8'), { merge: true }) as JsonObject;
    expect(errorsOf(stringify(file))).toEqual([]);
  });

  it.each([
    ['an unknown key', 'version: 1\nstages: {a: {uses: split, wiht: {}}}', 'additional properties'],
    ['an unknown parameter of a plugin', 'version: 1\nstages: {a: {uses: quantize, with: {preste: u8s8}}}', 'additional properties'],
    ['a value of the wrong type', 'version: 1\nstages: {a: {uses: calibrate, with: {samples: [many]}}}', '/stages/a/with/samples'],
    ['an unknown plugin', 'version: 1\nstages: {a: {uses: quantise}}', '/stages/a/uses'],
    ['an unknown input port', 'version: 1\nstages: {a: {uses: quantize, inputs: {modle: b.model}}}', '/stages/a/inputs'],
    [
      'an input port that the plugin has for no params',
      'version: 1\nstages: {a: {uses: verify, inputs: {refrence: b.model}}}',
      '/stages/a/inputs',
    ],
    [
      'an input port that the value of a param excludes',
      'version: 1\nstages: {a: {uses: verify, with: {reference: captured}, inputs: {data: b.out}}}',
      '/stages/a/inputs',
    ],
    [
      'an input port that the default of a param excludes',
      'version: 1\nstages: {a: {uses: bench, inputs: {runner: {bundle: b.bundle}}}}',
      '/stages/a/inputs',
    ],
    [
      'an input port that needs a param which is not given',
      'version: 1\nstages: {a: {uses: split, with: {parts: {p: {inputs: [x], outputs: [y]}}}, inputs: {model: b.model, config: c.out}}}',
      '/stages/a/inputs',
    ],
    ['a gate without an operator', 'version: 1\nstages: {a: {uses: evaluate, gate: {bbox.AP: "0.3"}}}', '/stages/a/gate/bbox.AP'],
    ['a gate without a number', 'version: 1\nstages: {a: {uses: evaluate, gate: {bbox.AP: ">= high"}}}', '/stages/a/gate/bbox.AP'],
    [
      'a text that is no reference',
      'version: 1\nstages: {a: {uses: quantize, inputs: {model: not a reference!}}}',
      '/stages/a/inputs/model',
    ],
    ['a stage without inputs that needs some', 'version: 1\nstages: {a: {uses: quantize}}', "required property 'inputs'"],
    [
      'a stage without one of its required inputs',
      'version: 1\nstages: {a: {uses: quantize, inputs: {model: b.model}}}',
      "required property 'sketches'",
    ],
    [
      'a stage without an input that the value of a param requires',
      'version: 1\nstages: {a: {uses: verify, with: {reference: model, candidate: model}, inputs: {reference: b.model}}}',
      "required property 'candidate'",
    ],
    ['a stage without its port', 'version: 1\nstages: {a: {uses: compile, inputs: {models: {b: quantize}}}}', '/stages/a/inputs/models/b'],
    ['a timeout without a unit', 'version: 1\nstages: {a: {uses: quantize, timeout: soon}}', '/stages/a/timeout'],
    ['a stage without its required params', 'version: 1\nstages: {a: {uses: command}}', "required property 'with'"],
    ['params without a required one', 'version: 1\nstages: {a: {uses: command, with: {inputs: {}}}}', "required property 'run'"],
    ['another version', 'version: 2\nstages: {a: {uses: split}}', '/version'],
  ])('refuses %s', (_what, text, message) => {
    expect(errorsOf(text).join('\n')).toContain(message);
  });

  it('takes a reference where the plugin wants a number', () => {
    expect(
      errorsOf('version: 1\nstages: {a: {uses: calibrate, with: {samples: "${n}"}, inputs: {model: b.model, captured: c.captured}}}'),
    ).toEqual([]);
  });

  it('takes references of every form, and durations', () => {
    const inputs = '{model: "${sources.net}", sketches: "calibrate@${item}.sketches"}';
    expect(errorsOf(`version: 1\nstages: {a: {uses: quantize, timeout: 1.5h, inputs: ${inputs}}}`)).toEqual([]);
    expect(errorsOf('version: 1\nstages: {a: {uses: compile, inputs: {models: {b: quantize@b.model}}, with: {target: x}}}')).toEqual([]);
  });

  it('takes input ports that a param adds, also if its value is a reference, and ports that params name', () => {
    const bench = (runner: string): string =>
      `version: 1\nstages: {a: {uses: bench, with: {runner: ${runner}}, inputs: {runner: {bundle: b.bundle}}}}`;
    expect(errorsOf(bench('external'))).toEqual([]);
    expect(errorsOf(bench('"${where}"'))).toEqual([]);
    expect(
      errorsOf('version: 1\nstages: {a: {uses: command, with: {run: [x], inputs: {i: in}, outputs: {o: out}}, inputs: {i: b.o}}}'),
    ).toEqual([]);
  });

  it('takes a bound with a reference, and other plugins in a file that names some', () => {
    expect(errorsOf('version: 1\nstages: {a: {uses: report, inputs: {metrics: {a: a.metrics}}, gate: {x: ">= -${most}"}}}')).toEqual([]);
    expect(errorsOf('version: 1\nplugins: {mine: ./mine.js}\nstages: {a: {uses: mine, inputs: {any: b.model}}}')).toEqual([]);
  });

  it.each(BUILT_IN_PLUGINS.map(({ plugin }) => plugin))('describes $name for completion', ({ name, description }) => {
    expect(schema).toMatchObject({
      properties: { stages: { additionalProperties: { allOf: expect.arrayContaining([branchOf(name, description)]) } } },
    });
  });
});

function branchOf(name: string, description: string): unknown {
  return {
    if: { properties: { uses: { const: name } }, required: ['uses'] },
    // biome-ignore lint/suspicious/noThenProperty: the JSON Schema keyword
    then: expect.objectContaining({ properties: expect.objectContaining({ with: expect.objectContaining({ description }) }) }),
  };
}
