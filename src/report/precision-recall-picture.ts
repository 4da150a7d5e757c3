/** Precision-recall curves as a standalone SVG file. */
import { COLORS } from './colors.js';
import { html } from './html.js';

export interface DrawnCurve {
  readonly name: string;
  /** At evenly spaced recalls from 0 to 1. */
  readonly precision: readonly number[];
}

const [WIDTH, HEIGHT] = [640, 480];
const PLOT = { left: 56, top: 44, width: 440, height: 376 } as const;
const { panel, ink, soft, line } = COLORS;

/** An SVG file. The first curve is drawn darkest. */
export function drawPrecisionRecall(title: string, curves: readonly DrawnCurve[]): string {
  const x = (recall: number): string => (PLOT.left + recall * PLOT.width).toFixed(1);
  const y = (precision: number): string => (PLOT.top + (1 - precision) * PLOT.height).toFixed(1);
  const ticks = [0, 0.2, 0.4, 0.6, 0.8, 1];
  const grid = ticks.map(
    tick => html`<path d="M${x(tick)} ${y(0)}V${y(1)}M${x(0)} ${y(tick)}H${x(1)}" stroke="${line.light}"/>
<text x="${x(tick)}" y="${PLOT.top + PLOT.height + 18}" text-anchor="middle" fill="${soft.light}">${tick}</text>
<text x="${PLOT.left - 8}" y="${Number(y(tick)) + 4}" text-anchor="end" fill="${soft.light}">${tick}</text>
`,
  );
  const drawn = curves.map(({ name, precision }, index) => {
    const color = shade(curves.length < 2 ? 0 : index / (curves.length - 1));
    const points = precision.map((value, i) => `${x(precision.length < 2 ? 0 : i / (precision.length - 1))} ${y(value)}`);
    const row = PLOT.top + 14 + index * 20;
    const path = points.length === 0 ? '' : `M${points.join('L')}`;
    return html`<path d="${path}" fill="none" stroke="${color}" stroke-width="1.8"/>
<path d="M${PLOT.left + PLOT.width + 14} ${row}h18" stroke="${color}" stroke-width="3"/>
<text x="${PLOT.left + PLOT.width + 38}" y="${row + 4}" fill="${ink.light}">${name}</text>
`;
  });
  return html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="system-ui, sans-serif" font-size="12">
<rect width="${WIDTH}" height="${HEIGHT}" fill="${panel.light}"/>
<text x="${PLOT.left}" y="24" font-size="15" font-weight="600" fill="${ink.light}">${title}</text>
${grid}${drawn}<text x="${PLOT.left + PLOT.width / 2}" y="${HEIGHT - 22}" text-anchor="middle" fill="${soft.light}">recall</text>
<text transform="translate(16 ${PLOT.top + PLOT.height / 2}) rotate(-90)" text-anchor="middle" fill="${soft.light}">precision</text>
</svg>
`.markup;
}

/** A shade from dark blue to a light blue that is still visible on white. */
function shade(position: number): string {
  const mix = (from: number, to: number): number => Math.round(from + (to - from) * position);
  return `rgb(${mix(12, 150)},${mix(50, 180)},${mix(110, 226)})`;
}
