/** Sketches with as many bars as a picture shows, without ranges per channel, and of the values that the page shows: the files have megabytes. */
import type { Json } from '../../../src/base/json.js';
import { encodeModelSketches, type ModelSketches, type NamedSketch } from '../../../src/quant/calibration/model-sketches.js';
import { makeBars } from '../../../src/report/bars.js';

/** In the form of the file. @param kept names of the values with a histogram; undefined: all. */
export function reduceSketches(sketches: ModelSketches, kept: ReadonlySet<string> | undefined): Json {
  const values = new Map(
    [...sketches.values].flatMap(([address, named]) => (kept?.has(named.name) === false ? [] : [[address, reduce(named)] as const])),
  );
  return encodeModelSketches({ ...sketches, values });
}

function reduce({ name, sketch }: NamedSketch): NamedSketch {
  const kept = { ...sketch, channels: undefined };
  if (sketch.histograms.length === 0) return { name, sketch: kept };
  const { width, first, counts } = makeBars(sketch.histograms);
  return {
    name,
    sketch: { ...kept, histograms: [{ exponent: Math.log2(width), first, counts, offsets: new Float64Array(counts.length) }] },
  };
}
