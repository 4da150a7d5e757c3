/** Named colors of the page in the light and in the dark color scheme. */

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

/** The color as a CSS variable, for styles and SVG attributes. */
export function variable(color: Color): string {
  return `var(--${color})`;
}

/** CSS rules that declare all colors: those of the system's scheme, or of the attribute `data-scheme` of the root element; paper is light. */
export function declareColors(): string {
  const of = (scheme: keyof Shade): string =>
    [`color-scheme:${scheme}`, ...Object.entries(COLORS).map(([name, shade]) => `--${name}:${shade[scheme]}`)].join(';');
  return `:root{${of('light')}}
@media screen and (prefers-color-scheme:dark){:root:not([data-scheme]){${of('dark')}}}
@media screen{:root[data-scheme=dark]{${of('dark')}}}`;
}
