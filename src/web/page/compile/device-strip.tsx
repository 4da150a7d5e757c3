/** Where the units of a model run, in the order of the graph: one column each, also where nothing estimates their times. */
import { plainText } from '../parts/text.js';
import type { CompiledModel, Unit } from './compile-report.js';

type Look = 'npu' | 'cpu' | 'edge';

/** The height says the same as the color. */
const HEIGHTS: Readonly<Record<Look, number>> = { npu: 1, cpu: 0.5, edge: 0.2 };

const WORDS: Readonly<Record<Look, string>> = { npu: 'on the NPU', cpu: 'on the CPU', edge: 'Q or DQ at an end, on the host' };

const [WIDTH, HEIGHT] = [1000, 34];

interface Run {
  readonly look: Look;
  readonly part: number;
  readonly from: number;
  readonly units: Unit[];
}

export function DeviceStrip({ model: { name, units } }: { readonly model: Pick<CompiledModel, 'name' | 'units'> }) {
  if (units.length === 0) return null;
  const runs = listRuns(units);
  const step = WIDTH / units.length;
  const gap = step > 3 ? 0.8 : 0;
  const counts = (['npu', 'cpu', 'edge'] as const).map(look => [look, units.filter(unit => lookOf(unit) === look).length] as const);
  return (
    <figure class="figure wide">
      <figcaption>
        Units in the order of the graph:{' '}
        {counts.map(([look, count]) => (
          <span key={look} class={`device ${look}`}>
            {SIGNS[look]} {count} {WORDS[look]}{' '}
          </span>
        ))}
      </figcaption>
      <svg
        class="device-strip"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={plainText(`Units of ${name}: ${counts.map(([look, count]) => `${count} ${WORDS[look]}`).join(', ')}`)}
      >
        {runs.map(({ look, from, units: own }) => (
          <rect
            key={from}
            class={look}
            x={from * step}
            y={HEIGHT * (1 - HEIGHTS[look])}
            width={Math.max(0.5, own.length * step - gap)}
            height={HEIGHT * HEIGHTS[look]}
          >
            <title>{describeRun(look, own)}</title>
          </rect>
        ))}
      </svg>
    </figure>
  );
}

const SIGNS: Readonly<Record<Look, string>> = { npu: '█', cpu: '▄', edge: '▁' };

function lookOf({ device, edge }: Unit): Look {
  return edge ? 'edge' : device;
}

/** Neighbors of one part and one look. */
function listRuns(units: readonly Unit[]): readonly Run[] {
  const runs: Run[] = [];
  for (const [from, unit] of units.entries()) {
    const last = runs.at(-1);
    const look = lookOf(unit);
    if (last !== undefined && last.look === look && last.part === unit.part) last.units.push(unit);
    else runs.push({ look, part: unit.part, from, units: [unit] });
  }
  return runs;
}

function describeRun(look: Look, units: readonly Unit[]): string {
  const [first, last] = [units[0]?.name ?? '', units.at(-1)?.name ?? ''];
  return plainText(`${units.length === 1 ? first : `${units.length} units, ${first} … ${last}`}: ${WORDS[look]}`);
}
