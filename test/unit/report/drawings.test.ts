/** Charts and graphs: deterministic output, and names as escaped text. */
import { drawChart } from '../../../src/report/chart.js';
import { COLORS, standIn } from '../../../src/report/colors.js';
import { drawGraph } from '../../../src/report/graph.js';
import { withoutImplied } from '../../../src/report/graph-edges.js';

const HOSTILE = '<script>alert("1")</script> #01fe00 zr0-c0 class="x" {a|b}';

const chart = (id: string) =>
  drawChart({
    id,
    description: HOSTILE,
    wide: { width: 400, height: 200 },
    narrow: { width: 200, height: 200 },
    option: () => ({
      xAxis: { type: 'category', data: [HOSTILE, 'b'] },
      yAxis: { type: 'value', axisLabel: { color: standIn('soft') } },
      series: [{ type: 'line', silent: true, areaStyle: {}, lineStyle: { color: standIn('blue') }, data: [1, 2] }],
    }),
  });

describe('a chart', () => {
  it('has the same bytes whatever was drawn before', async () => {
    const first = await chart('c1');
    await chart('other');
    expect(await chart('c1')).toEqual(first);
  });

  it('names colors by variables, and shows names unchanged', async () => {
    const { markup } = await chart('c1');
    expect(markup).toContain('stroke="var(--blue)"');
    expect(markup).toContain('fill="var(--soft)"');
    expect(markup).not.toContain('<script');
    expect(markup).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; #01fe00 zr0-c0 class=&quot;x&quot; {a|b}');
    expect(markup.match(/="#01fe/g)).toBeNull();
  });

  it('has what a pointer on a mark shows, as escaped text, and no attribute of ECharts', async () => {
    const { markup } = await drawChart({
      id: 'c3',
      description: '',
      wide: { width: 400, height: 200 },
      narrow: { width: 200, height: 200 },
      tip: (series, datum) => (datum === 1 ? undefined : `${series} ${datum} ${HOSTILE}`),
      option: () => ({
        xAxis: { type: 'value' },
        yAxis: { type: 'value' },
        series: [
          {
            type: 'scatter',
            silent: true,
            data: [
              [0, 1],
              [1, 2],
              [2, 3],
            ],
          },
          { type: 'bar', silent: true, data: [[0, 1]] },
        ],
      }),
    });
    const tips = [...markup.matchAll(/<title>(.*?)<\/title><\/path>/g)].map(match => match[1]?.slice(0, 3));
    // Both forms: wide and narrow.
    expect(tips.sort()).toEqual(['0 0', '0 0', '0 2', '0 2', '1 0', '1 0']);
    expect(markup).not.toContain('<script');
    expect(markup).not.toContain('ecmeta_');
  });

  it('has unique clip names on the page', async () => {
    const ids = [...`${(await chart('c1')).markup}${(await chart('c2')).markup}`.matchAll(/ id="([^"]+)"/g)].map(match => match[1]);
    expect(ids.length).toBeGreaterThan(0);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^c[12]-(wide|narrow)-/);
  });
});

describe('a graph', () => {
  const graph = {
    id: 'g',
    description: 'two boxes',
    nodes: [
      { id: 'a', title: HOSTILE, lines: ['x'], look: 'executed' },
      { id: 'b', title: 'b', lines: [], look: 'executed' },
    ],
    edges: [{ from: 'a', to: 'b' }],
    direction: 'down',
  } as const;

  it('has a box per node and a path per edge, and the same bytes every time', async () => {
    const { markup } = await drawGraph(graph);
    expect(markup.match(/<g class="box/g)).toHaveLength(2);
    expect(markup.match(/<path class="edge"/g)).toHaveLength(1);
    expect(markup).not.toContain('<script');
    expect(await drawGraph(graph)).toEqual({ markup });
  });

  it('leaves out the edges that longer paths imply, and no other', () => {
    const edge = (text: string) => ({ from: text[0] ?? '', to: text[1] ?? '' });
    expect(withoutImplied(['ab', 'bc', 'ac', 'cd', 'ad', 'ae'].map(edge))).toEqual(['ab', 'bc', 'cd', 'ae'].map(edge));
  });
});

describe('colors', () => {
  const luminance = (hex: string): number => {
    const [r = 0, g = 0, b = 0] = [1, 3, 5]
      .map(at => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
      .map(c => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  /** WCAG 2.2, contrast ratio. */
  const contrast = (a: string, b: string): number => {
    const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (light + 0.05) / (dark + 0.05);
  };

  it.each(
    Object.keys(COLORS).filter(name => !['paper', 'panel', 'raised', 'line'].includes(name)) as (keyof typeof COLORS)[],
  )('%s is read on paper, panel and raised boxes, light and dark', name => {
    for (const scheme of ['light', 'dark'] as const)
      for (const ground of ['paper', 'panel', 'raised'] as const)
        expect(contrast(COLORS[name][scheme], COLORS[ground][scheme])).toBeGreaterThanOrEqual(4.5);
  });
});
