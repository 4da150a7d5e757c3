/** Sketches with as many bars as a picture shows, and without ranges per channel: the files have megabytes. */
import type { Json } from '../../../src/base/json.js';
import { encodeModelSketches, type NamedSketch, parseModelSketches } from '../../../src/quant/calibration/model-sketches.js';
import { makeBars } from '../../../src/report/bars.js';

/** In the form of the file. @throws QuantError `bad-sketches`. */
export function reduceSketches(file: Json): Json {
  const sketches = parseModelSketches(file);
  const values = new Map([...sketches.values].map(([address, named]) => [address, reduce(named)]));
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
