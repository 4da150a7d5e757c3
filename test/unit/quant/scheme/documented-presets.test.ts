/** The tables of presets in docs/stages/quantize.md and docs/numerics.md against the presets. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PRESET_DIFFERENCES, PRESET_ORIGINS } from '../../../../src/quant/scheme/preset-origins.js';
import { PRESETS, type Preset, type PresetName } from '../../../../src/quant/scheme/scheme.js';
import { type RangeName, toRangeMethod } from '../../../../src/quant/settings/range-param.js';
import { DIST } from '../../../support/world.js';

const pageOf = (name: string): string => readFileSync(join(dirname(DIST), 'docs', name), 'utf8');
const page = pageOf('stages/quantize.md');

/** Cells of the table that begins with this text. */
function table(head = '| knob | `u8s8`', text = page): string[][] {
  const start = text.indexOf(head);
  const lines = text.slice(start, text.indexOf('\n\n', start)).split('\n');
  return lines
    .filter(line => !line.startsWith('|---'))
    .map(line =>
      line
        .split('|')
        .slice(1, -1)
        .map(cell => cell.trim().replaceAll('`', '')),
    );
}

function knobOf(preset: Preset, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], preset);
}

/** The form in the table. */
function parseCell(path: string, cell: string): unknown {
  if (path.endsWith('range')) return toRangeMethod(cell as RangeName);
  if (path === 'placement.floatOutputs') return cell === 'none' ? [] : [cell];
  const [word = ''] = cell.split(' ');
  return word === 'true' ? true : word === 'false' ? false : word;
}

/** Rows of [preset, that on which it is based, "knob: value"]. */
const VARIANTS = table('| preset | is | with |').slice(1) as [string, string, string][];

/** `preset` with another value at `path`. */
function withKnob(preset: Preset, path: string, value: unknown): unknown {
  const [name = '', key] = path.split('.');
  const { [name]: former, ...others } = preset as unknown as Record<string, unknown>;
  return { ...others, [name]: key === undefined ? value : { ...(former as object), [key]: value } };
}

/** `range` is in the short form of `tanren sweep`. */
function parseValue(path: string, text: string): unknown {
  const [, percentile] = /^percentile:([\d.]+)$/.exec(text) ?? [];
  return percentile === undefined ? parseCell(path, text) : { kind: 'percentile', percentile: Number(percentile), sides: 'magnitude' };
}

describe('docs/numerics.md', () => {
  const numerics = pageOf('numerics.md');

  it('has the model, the version and the differences of every preset', () => {
    const rows = Object.entries(PRESET_ORIGINS).map(([name, { model, version, differences }]) => [
      name,
      model,
      version,
      differences.join(', '),
    ]);
    expect(table('| preset | modeled on |', numerics).slice(1)).toEqual(rows);
    const texts = Object.entries(PRESET_DIFFERENCES).map(([name, text]) => [name, text.replaceAll('`', '')]);
    expect(table('| differs in | |', numerics).slice(1)).toEqual(texts);
    const used = new Set(Object.values(PRESET_ORIGINS).flatMap(({ differences }) => differences));
    expect([...used].sort()).toEqual(Object.keys(PRESET_DIFFERENCES).sort());
  });
});

describe('docs/stages/quantize.md', () => {
  const [[, ...presets] = [], ...rows] = table();

  it('has every preset, and every setting except the list of operators', () => {
    expect([...presets, ...VARIANTS.map(([name]) => name)].sort()).toEqual(Object.keys(PRESETS).sort());
    const { opTypes: _, ...knobs } = PRESETS.u8s8;
    const paths = Object.entries(knobs).flatMap(([name, value]) =>
      typeof value === 'string' || name === 'range' ? [name] : Object.keys(value).map(key => `${name}.${key}`),
    );
    expect(rows.map(([path]) => path).sort()).toEqual(paths.sort());
  });

  it.each(VARIANTS)('says what %s changes of %s', (name, base, knob) => {
    const [path = '', value = ''] = knob.split(': ');
    expect(PRESETS[name as PresetName]).toEqual(withKnob(PRESETS[base as PresetName], path, parseValue(path, value)));
  });

  it.each(
    table()[0]
      ?.slice(1)
      .map((name, column) => [name, column] as const) ?? [],
  )('says what %s is', (name, column) => {
    for (const [path = '', ...cells] of rows) {
      expect([path, parseCell(path, cells[column] ?? '')]).toEqual([path, knobOf(PRESETS[name as PresetName], path)]);
    }
  });
});
