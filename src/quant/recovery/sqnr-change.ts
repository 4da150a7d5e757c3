/** The change of an SQNR, as the reports of stages that recover accuracy have it. */
import { toDb } from '../weights/weights.js';

/** The SQNR of a layer in dB before and after. @param signal, noise sums of squares. */
export function changeOf({
  signal,
  noise,
}: {
  readonly signal: number;
  readonly noise: { readonly before: number; readonly after: number };
}) {
  const finite = (x: number): number | null => (Number.isFinite(x) ? x : null);
  return { before: finite(toDb(signal, noise.before)), after: finite(toDb(signal, noise.after)) };
}
