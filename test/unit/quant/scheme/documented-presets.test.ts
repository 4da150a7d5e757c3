/** The table of presets in docs/stages/quantize.md against the presets. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PRESETS, type Preset, type PresetName } from '../../../../src/quant/scheme/scheme.js';
import { type RangeName, toRangeMethod } from '../../../../stages/quantize/range-param.js';
import { DIST } from '../../../support/world.js';

const page = readFileSync(join(dirname(DIST), 'docs/stages/quantize.md'), 'utf8');

/** Cells of the table that begins with `| knob | \`u8s8\``. */
function table(): string[][] {
  const start = page.indexOf('| knob | `u8s8`');
  const lines = page.slice(start, page.indexOf('\n\n', start)).split('\n');
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

describe('docs/stages/quantize.md', () => {
  const [[, ...presets] = [], ...rows] = table();

  it('has every preset, and every setting except the list of operators', () => {
    expect(presets.sort()).toEqual(Object.keys(PRESETS).sort());
    const { opTypes: _, ...knobs } = PRESETS.u8s8;
    const paths = Object.entries(knobs).flatMap(([name, value]) =>
      typeof value === 'string' || name === 'range' ? [name] : Object.keys(value).map(key => `${name}.${key}`),
    );
    expect(rows.map(([path]) => path).sort()).toEqual(paths.sort());
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
