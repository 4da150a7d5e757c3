/** Edits of the pipeline file: one place changes, every other byte stays, and what is shared is refused. */
import fc from 'fast-check';
import { parse } from 'yaml';
import type { Edit } from '../../../src/web/edit/edit-schema.js';
import { diffLines } from '../../../src/web/edit/line-diff.js';
import { planEdit } from '../../../src/web/edit/plan-edit.js';

const exclude: Edit = { kind: 'exclude', stage: 'quantize@a', value: 'a/conv' };
const widen: Edit = { kind: 'override', stage: 'quantize@a', value: 'a/conv', set: { dtype: 'int16' } };
const ENTRY = { tensor: 'a/conv', matches: 'any' };

const QUANTIZE = { group: 'quantize', item: 'a' };

/** The stage in several layouts, each with comments, before other text. */
const LAYOUTS: Readonly<Record<string, string>> = {
  flow: '  quantize: # of the model\n    uses: quantize\n    with: {preset: "${preset}"} # settings\n    inputs: {model: x.model}\n',
  'flow over lines': '  quantize:\n    uses: quantize\n    with: {\n      preset: xint8, # AMD\n      # none yet\n    }\n',
  'empty flow': '  quantize:\n    uses: quantize\n    with: {}\n',
  block:
    '  quantize:\n    uses: quantize\n    with: # settings\n      preset: xint8 # AMD\n      # the last comment\n    inputs: {model: x.model}\n',
  'no settings, block': '  quantize:\n    uses: quantize\n    inputs: {model: x.model} # in\n',
  'no settings, flow': '  quantize: {uses: quantize, inputs: {model: x.model}} # all\n',
  'list in flow': '  quantize:\n    uses: quantize\n    with: {exclude: [other], overrides: [{tensor: b, set: {dtype: int8}}]}\n',
  'list in block':
    '  quantize:\n    uses: quantize\n    with:\n      exclude:\n        - other # why\n        # the end\n      overrides:\n      - tensor: b\n        set: {dtype: int8}\n      refine: none\n',
  'empty list': '  quantize:\n    uses: quantize\n    with: {exclude: [], overrides: []}\n',
};
const HEAD = '# A pipeline\nversion: 1\nparams: {preset: xint8, size: {type: integer, default: 16, description: Size.}} # knobs\nstages:\n';
const TAIL = '  # the next\n  last: {uses: report}\n# the end\n';

/** Tokens of comments, in order. */
const commentsOf = (text: string): readonly string[] => text.match(/#.*$/gm) ?? [];

describe.each(Object.entries(LAYOUTS))('a stage written as %s', (_name, stage) => {
  const text = HEAD + stage + TAIL;

  it.each([
    ['an exclusion', exclude, 'exclude', ENTRY],
    ['a wider type', widen, 'overrides', { ...ENTRY, set: { dtype: 'int16' } }],
  ] as const)('gets %s at the end of its list, with all comments and other bytes kept', (_what, edit, list, entry) => {
    const { text: changed, place } = planEdit(text, edit, QUANTIZE);
    const expected = parse(text);
    expected.stages.quantize.with ??= {};
    expected.stages.quantize.with[list] = [...(expected.stages.quantize.with[list] ?? []), entry];
    expect(parse(changed)).toEqual(expected);
    expect(commentsOf(changed)).toEqual(commentsOf(text));
    expect(place).toMatch(new RegExp(`^stages\\.quantize\\.with\\.${list}, line \\d+$`));
    const diff = diffLines(text, changed);
    expect(diff.filter(({ kind }) => kind !== 'same').length).toBeLessThanOrEqual(2);
  });

  it('keeps line ends of Windows', () => {
    const windows = text.replaceAll('\n', '\r\n');
    const { text: changed } = planEdit(windows, exclude, QUANTIZE);
    expect(changed.replaceAll('\r\n', '')).not.toMatch(/\n/);
    expect(parse(changed).stages.quantize.with.exclude).toContainEqual(ENTRY);
  });
});

describe('a place that is one', () => {
  it.each([
    ['an anchor of the settings', '    with: &s {preset: xint8} # kept\n'],
    ['an anchor of the list', '    with: {exclude: &l [other]} # kept\n'],
    ['an anchor of the empty list', '    with: {exclude: &l []} # kept\n'],
    ['an anchor of the list, written as a block', '    with:\n      exclude: &l # kept\n        - other\n'],
    ['an anchor that only a comment names', '    with: &s {preset: xint8} # kept, as *s\n'],
    ['an anchor that a pattern ends like', '    with: &conv {exclude: ["*conv"]} # kept\n'],
  ])('may have %s that nothing else uses', (_, settings) => {
    const text = `${HEAD}  quantize:\n    uses: quantize\n${settings}${TAIL}`;
    const { text: changed, place } = planEdit(text, exclude, QUANTIZE);
    expect(parse(changed).stages.quantize.with.exclude.at(-1)).toEqual(ENTRY);
    expect(place).toMatch(/^stages\.quantize\.with\.exclude, line \d+$/);
    expect(commentsOf(changed)).toEqual(commentsOf(text));
  });

  it('may be the `foreach` item that the list refers to, and the other items stay', () => {
    const text = `${HEAD}  quantize:\n    foreach:\n      a: {m: x.a, skip: [other]} # of a\n      b: {m: x.b, skip: []}\n    uses: quantize\n    with: {exclude: "\${item.skip}"}\n${TAIL}`;
    const { text: changed, place } = planEdit(text, exclude, QUANTIZE);
    expect(parse(changed).stages.quantize.foreach).toEqual({ a: { m: 'x.a', skip: ['other', ENTRY] }, b: { m: 'x.b', skip: [] } });
    expect(place).toBe('stages.quantize.foreach.a.skip, line 7');
    expect(commentsOf(changed)).toEqual(commentsOf(text));
  });
});

describe('an override', () => {
  const text = `${HEAD}  quantize:\n    uses: quantize\n    with: {overrides: [{tensor: a/conv, set: {scale: 0.5, dtype: int8}}]}\n`;

  it('of a value that has one is joined with it', () => {
    const { text: changed } = planEdit(text, widen, QUANTIZE);
    expect(parse(changed).stages.quantize.with.overrides).toEqual([{ tensor: 'a/conv', set: { scale: 0.5, dtype: 'int16' } }]);
  });

  it('with a range takes the place of a fixed scale, as both contradict each other', () => {
    const { text: changed } = planEdit(text, { ...widen, set: { range: { low: -1, high: 1 } } }, QUANTIZE);
    expect(parse(changed).stages.quantize.with.overrides).toEqual([
      { tensor: 'a/conv', set: { dtype: 'int8', range: { low: -1, high: 1 } } },
    ]);
  });
});

describe('a parameter', () => {
  it.each([
    ['preset', 'a8w8', { preset: 'a8w8' }],
    ['size', 32, { size: { type: 'integer', default: 32, description: 'Size.' } }],
  ] as const)('%s is changed where its value is', (name, to, expected) => {
    const { text } = planEdit(HEAD + TAIL, { kind: 'param', name, to }, { group: '', item: undefined });
    expect(parse(text).params).toMatchObject(expected);
    expect(commentsOf(text)).toEqual(commentsOf(HEAD + TAIL));
  });
});

describe('a parameter that the command line sets', () => {
  it.each([
    ['preset', 'a16w8', 'the parameter preset is "a16w8", and "xint8" in the file'],
    ['size', 8, 'the parameter size is 8, and 16 in the file'],
  ])('%s is not changed in the file, where it would have no effect', (name, effective, message) => {
    const plan = (now: string | number) =>
      planEdit(HEAD + TAIL, { kind: 'param', name, to: name === 'size' ? 4 : 'a8w8' }, { group: '', item: undefined, effective: now });
    expect(() => plan(effective)).toThrow(message);
    expect(plan(name === 'size' ? 16 : 'xint8').place).toMatch(/^params\./);
  });
});

describe('a place that is not one is refused', () => {
  it.each([
    ['settings that are an alias', 'x: &s {preset: xint8}\nstages:\n  quantize: {uses: quantize, with: *s}\n', 'alias of "s"'],
    [
      'settings with an anchor that others use',
      'stages:\n  quantize: {uses: quantize, with: &s {preset: xint8}}\n  other: {uses: quantize, with: *s}\n',
      'has the anchor "s", which other places share',
    ],
    [
      'a list of an item that others share',
      'x: &l [b]\nstages:\n  quantize: {uses: quantize, foreach: {a: {skip: *l}}, with: {exclude: "${item.skip}"}}\n',
      'stages.quantize.foreach.a.skip is an alias of "l"',
    ],
    [
      'a list that all items give, where the items are a list',
      'stages:\n  quantize: {uses: quantize, foreach: [a, b], with: {exclude: "${item}"}}\n',
      'stages.quantize.foreach is shared',
    ],
    [
      'settings that merge others',
      'x: &s {preset: xint8}\nstages:\n  quantize: {uses: quantize, with: {<<: *s, refine: none}}\n',
      'merges another map',
    ],
    ['settings that are a reference', 'stages:\n  quantize: {uses: quantize, with: "${item.with}"}\n', 'reference ${item.with}'],
    ['a list that is a reference', 'stages:\n  quantize: {uses: quantize, with: {exclude: "${exclude}"}}\n', 'reference ${exclude}'],
    ['a list that is an alias', 'x: &l [b]\nstages:\n  quantize: {uses: quantize, with: {exclude: *l}}\n', 'alias of "l"'],
    ['a stage that is an alias', 'x: &q {uses: quantize}\nstages:\n  quantize: *q\n', 'alias of "q"'],
    ['a stage that the file lacks', 'stages:\n  other: {uses: quantize}\n', 'no stages.quantize'],
    ['a file with errors', 'stages: {quantize: {uses: quantize\n', 'has errors'],
    [
      'a value that is excluded already',
      'stages:\n  quantize: {uses: quantize, with: {exclude: [{tensor: a/conv}]}}\n',
      'excluded already',
    ],
  ])('%s', (_what, text, message) => {
    expect(() => planEdit(text, exclude, QUANTIZE)).toThrow(message);
  });
});

describe('a parameter whose value is not its own is refused', () => {
  it.each([
    [
      'an anchor that another parameter uses',
      'params: {height: &h 192, width: *h}\n',
      'height',
      'params.height has the anchor "h", which other places share',
    ],
    ['an alias', 'params: {height: &h 192, width: *h}\n', 'width', 'params.width is an alias of "h", which other places share'],
    [
      'a default that is an alias',
      'params: {preset: {enum: [&d 1, 2], default: *d}}\n',
      'preset',
      'params.preset.default is an alias of "d"',
    ],
    ['no default', 'params: {preset: {type: string}}\n', 'preset', 'params.preset.default is shared, or not written out here'],
  ])('%s', (_what, text, name, message) => {
    expect(() => planEdit(text, { kind: 'param', name, to: 224 }, { group: '', item: undefined })).toThrow(message);
  });

  it('and one whose anchor nothing uses keeps it, or loses it, and is changed', () => {
    const { text } = planEdit('params: {height: &h 192}\n', { kind: 'param', name: 'height', to: 224 }, { group: '', item: undefined });
    expect(parse(text).params).toEqual({ height: 224 });
  });
});

describe('any name of a value', () => {
  it('is written so that it is read back, whatever characters it has', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }),
        fc.constantFrom(...Object.values(LAYOUTS)),
        (value, stage) => {
          fc.pre(!/\p{Surrogate}/u.test(value));
          const text = HEAD + stage + TAIL;
          let changed: string;
          try {
            changed = planEdit(text, { ...exclude, value }, QUANTIZE).text;
          } catch (error) {
            // Line breaks in a name cannot be written in one line.
            expect(String(error)).toMatch(/one line|excluded already|cannot edit/);
            return;
          }
          expect(parse(changed).stages.quantize.with.exclude.at(-1)).toEqual({ tensor: value, matches: 'any' });
          expect(commentsOf(changed).length).toBeGreaterThanOrEqual(commentsOf(text).length);
        },
      ),
    );
  });
});

describe('a rewrite rule', () => {
  const rule: Edit = { kind: 'rule', stage: 'compile', model: 'a', rule: 'split-slice', form: 'x' };
  const ADDED = { name: 'split-slice', form: 'x', matches: 'any' };
  const only = { group: 'rewrite', item: undefined };
  const ofItem = { group: 'rewrite', item: 'a' };
  const at = (text: string, ...path: readonly string[]): unknown =>
    path.reduce<unknown>((value, key) => (value as Readonly<Record<string, unknown>>)[key], parse(text).stages.rewrite);

  it.each([
    ['a list in flow', '  rewrite: {uses: rewrite, with: {rules: [{name: b}]}}\n', [{ name: 'b' }, ADDED]],
    [
      'a list in block',
      '  rewrite:\n    uses: rewrite\n    with:\n      rules:\n        - {name: b} # why\n      samples: 1\n',
      [{ name: 'b' }, ADDED],
    ],
    ['settings without rules', '  rewrite:\n    uses: rewrite\n    with: {samples: 1} # few\n', [ADDED]],
    ['no settings', '  rewrite:\n    uses: rewrite\n', [ADDED]],
  ])('goes to the end of %s', (_what, stage, expected) => {
    const text = HEAD + stage + TAIL;
    const { text: changed, place } = planEdit(text, rule, only);
    expect(at(changed, 'with', 'rules')).toEqual(expected);
    expect(place).toMatch(/^stages\.rewrite\.with\.rules, line \d+$/);
    expect(commentsOf(changed)).toEqual(commentsOf(text));
  });

  const FOREACH =
    '  rewrite:\n    foreach:\n      a: {model: m.a, rules: [{name: b, form: "${maxpool}"}]} # of a\n      c: {model: m.c, rules: [{name: d}]}\n' +
    '    uses: rewrite\n    with: {rules: "${item.rules}"}\n';

  it('goes to the item of `foreach` that the list refers to, and to no other', () => {
    const { text: changed, place } = planEdit(HEAD + FOREACH + TAIL, rule, ofItem);
    expect(at(changed, 'foreach', 'a', 'rules')).toEqual([{ name: 'b', form: '${maxpool}' }, ADDED]);
    expect(at(changed, 'foreach', 'c', 'rules')).toEqual([{ name: 'd' }]);
    expect(place).toMatch(/^stages\.rewrite\.foreach\.a\.rules, line 7$/);
    expect(commentsOf(changed)).toEqual(commentsOf(HEAD + FOREACH + TAIL));
  });

  it('goes to an item that is the list itself', () => {
    const stage = '  rewrite:\n    foreach: {a: [{name: b}], c: []}\n    uses: rewrite\n    with: {rules: "${item}"}\n';
    expect(at(planEdit(HEAD + stage + TAIL, rule, ofItem).text, 'foreach', 'a')).toEqual([{ name: 'b' }, ADDED]);
  });

  it.each([
    ['a list that is a parameter', '  rewrite: {uses: rewrite, with: {rules: "${rules}"}}\n', only, 'reference ${rules}'],
    ['a list that is an alias', '  x: &l [{name: b}]\n  rewrite: {uses: rewrite, with: {rules: *l}}\n', only, 'alias of "l"'],
    [
      'a list with an anchor that others use',
      '  rewrite: {uses: rewrite, with: {rules: &l [{name: b}]}}\n  other: {uses: rewrite, with: {rules: *l}}\n',
      only,
      'has the anchor "l", which other places share',
    ],
    [
      'an item with an anchor that others use',
      '  rewrite: {uses: rewrite, foreach: {a: &i {rules: []}, b: *i}, with: {rules: "${item.rules}"}}\n',
      ofItem,
      'stages.rewrite.foreach.a has the anchor "i"',
    ],
    [
      'items that are an alias',
      '  x: &i {a: {rules: []}}\n  rewrite: {uses: rewrite, foreach: *i, with: {rules: "${item.rules}"}}\n',
      ofItem,
      'alias of "i"',
    ],
    [
      'one item that is an alias',
      '  x: &i {rules: []}\n  rewrite: {uses: rewrite, foreach: {a: *i}, with: {rules: "${item.rules}"}}\n',
      ofItem,
      'alias of "i"',
    ],
    ['items that are a list', '  rewrite: {uses: rewrite, foreach: [a], with: {rules: "${item.rules}"}}\n', ofItem, 'shared'],
    [
      'a list inside an item that is a reference',
      '  rewrite: {uses: rewrite, foreach: {a: {rules: "${maxpool}"}}, with: {rules: "${item.rules}"}}\n',
      ofItem,
      'reference ${maxpool}',
    ],
    ['settings that merge others', '  x: &s {samples: 1}\n  rewrite: {uses: rewrite, with: {<<: *s}}\n', only, 'merges another map'],
    ['a rule that the list has', '  rewrite: {uses: rewrite, with: {rules: [{name: split-slice, form: x}]}}\n', only, 'already'],
  ] as const)('is refused for %s', (_what, stage, place, message) => {
    expect(() => planEdit(HEAD + stage + TAIL, rule, place)).toThrow(message);
  });
});

describe('a stage with a rule', () => {
  const rule: Edit = { kind: 'rule', stage: 'compile', model: 'a b', rule: 'split-slice' };
  const added = { group: 'compile', input: ['models', 'a b'], model: 'a b' };
  const place = { group: 'compile', item: undefined, added };
  const STAGE = { uses: 'rewrite', with: { rules: [{ name: 'split-slice', matches: 'any' }] }, inputs: { model: 'quantize@a.model' } };

  it.each([
    [
      'a block',
      '  compile:\n    uses: compile # to the NPU\n    inputs:\n      models:\n        a b: quantize@a.model # one\n        c: quantize@c.model\n',
    ],
    ['flow', '  compile: {uses: compile, inputs: {models: {a b: quantize@a.model, c: quantize@c.model}}} # to the NPU\n'],
  ])('is added between the model and the stage that compiles it, written as %s', (_, compile) => {
    const text = HEAD + compile + TAIL;
    const { text: changed, place: where } = planEdit(text, rule, place);
    const expected = parse(text);
    expected.stages.compile.inputs.models['a b'] = 'rewrite-a-b.model';
    expected.stages['rewrite-a-b'] = STAGE;
    expect(parse(changed)).toEqual(expected);
    expect(commentsOf(changed)).toEqual(commentsOf(text));
    expect(where).toMatch(/^stages\.rewrite-a-b, line \d+$/);
  });

  it('takes a source as it is written', () => {
    const text = `${HEAD}  compile: {uses: compile, inputs: {model: "\${sources.m}"}}\n${TAIL}`;
    const { text: changed } = planEdit(
      text,
      { ...rule, model: 'model' },
      { ...place, added: { ...added, input: ['model'], model: 'model' } },
    );
    expect(parse(changed).stages['rewrite-model'].inputs).toEqual({ model: '${sources.m}' });
    expect(parse(changed).stages.compile.inputs).toEqual({ model: 'rewrite-model.model' });
  });

  it.each([
    ['a model of its item', '  compile: {uses: compile, foreach: [x], inputs: {models: {a b: "${item}.model"}}}\n', 'reference'],
    ['an alias of models', '  x: {m: &all {a b: q.model}}\n  compile: {uses: compile, inputs: {models: *all}}\n', 'alias of "all"'],
    [
      'a stage of the same name',
      '  rewrite-a-b: {uses: rewrite}\n  compile: {uses: compile, inputs: {models: {a b: q.model}}}\n',
      'rewrite-a-b already',
    ],
  ])('is refused for %s', (_, compile, why) => {
    expect(() => planEdit(HEAD + compile + TAIL, rule, place)).toThrow(why);
  });
});
