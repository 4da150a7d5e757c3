/** Which colours does the page have, and how do they follow light and dark? Each has a name; the page's style says what the name is in either scheme. */

interface Shade {
  readonly light: string;
  readonly dark: string;
}

/** Texts (`ink`, `soft`) and marks keep 4.5:1 and 3:1 against `paper` and `panel` in both schemes. */
export const COLORS = {
  paper: { light: '#fcfcfb', dark: '#131618' },
  panel: { light: '#ffffff', dark: '#1a1e21' },
  raised: { light: '#f3f4f3', dark: '#22272b' },
  line: { light: '#dfe2e1', dark: '#30363b' },
  ink: { light: '#1b1f23', dark: '#e7e9ea' },
  soft: { light: '#586069', dark: '#a3abb3' },
  link: { light: '#1f55a8', dark: '#8ab4f2' },
  blue: { light: '#2b65c0', dark: '#7aa9f0' },
  orange: { light: '#a94d07', dark: '#e9a15b' },
  green: { light: '#1e7648', dark: '#62c08f' },
  red: { light: '#b3261e', dark: '#f28b82' },
  violet: { light: '#7446b8', dark: '#b99cf0' },
  teal: { light: '#0c7580', dark: '#5cbcc6' },
  pink: { light: '#a83279', dark: '#eb94c9' },
  olive: { light: '#68700f', dark: '#b9c25a' },
} as const satisfies Readonly<Record<string, Shade>>;

export type Color = keyof typeof COLORS;

/** For things that stand side by side: as far from each other as they get, also for people who see few colours. */
export const SERIES: readonly Color[] = ['blue', 'orange', 'green', 'violet', 'red', 'teal', 'pink', 'olive'];

export function seriesColor(index: number): Color {
  return SERIES[index % SERIES.length] ?? 'blue';
}

/** The colour in a style or in an attribute of SVG. */
export function variable(color: Color): string {
  return `var(--${color})`;
}

/** The declarations of all names in one scheme. */
export function declareColors(scheme: keyof Shade): string {
  return Object.entries(COLORS)
    .map(([name, shade]) => `--${name}:${shade[scheme]}`)
    .join(';');
}

/**
 * A colour that stands for another while a library draws that knows no variables. They differ in the last digits alone, so that none is ever meant itself.
 */
export function standIn(color: Color): string {
  return `#01fe${Object.keys(COLORS).indexOf(color).toString(16).padStart(2, '0')}`;
}

/** The drawing with every stand-in replaced by its variable. */
export function replaceStandIns(drawing: string): string {
  const names = Object.keys(COLORS) as readonly Color[];
  return drawing.replace(/="#01fe([0-9a-f]{2})"/g, (text, digits: string) => {
    const name = names[Number.parseInt(digits, 16)];
    return name === undefined ? text : `="${variable(name)}"`;
  });
}
