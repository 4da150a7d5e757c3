/** Contrast of the page's colors, and edges of its graphs. */
import { COLORS } from '../../../src/report/colors.js';
import { withoutImplied } from '../../../src/report/graph-edges.js';

describe('a graph', () => {
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
