/** Compares the outputs of the parts of two detectors, value by value. The candidate's parts run on the inputs of the reference's parts. */
import { getDefined } from '../../base/invariant.js';
import { type Comparison, compareArrays } from '../../tensor/compare.js';
import { formatShape, sameShape } from '../../tensor/shape.js';
import type { Detector, ImageTrace } from '../detector/detector.js';
import type { PartValuesByName } from '../detector/part-runner.js';
import { DetectionError } from '../error/detection-error.js';

/** Comparisons by value name. */
export type ValueComparisons = ReadonlyMap<string, Comparison>;

/** See DetectorDefinition. */
export type SplitKinds = (outputs: PartValuesByName) => PartValuesByName;

export interface CompareOptions {
  readonly splitKinds: SplitKinds;
  readonly shapes: OpenShapes;
}

/** Outputs whose shapes depend on what each side selects. */
export interface OpenShapes {
  /** They, and the kinds of numbers in them, are left out where their shapes differ. */
  readonly mayDiffer: ReadonlySet<string>;
  /** The shapes of a value that was left out, in words. */
  readonly differing: Map<string, string>;
}

/**
 * Compares all outputs of all parts for one image, and each kind of number in outputs that hold several.
 * `own` is the candidate's own trace of the image: parts with equal inputs there are not run again.
 */
export async function compareParts(
  reference: ImageTrace,
  candidate: Detector,
  own: ImageTrace,
  { splitKinds, shapes }: CompareOptions,
): Promise<ValueComparisons> {
  const values: [string, Comparison][] = [];
  for (const { name } of candidate.parts) {
    const inputs = getDefined(reference.inputs[name], name);
    const known = sameValues(inputs, own.inputs[name] ?? {}) ? own.outputs[name] : undefined;
    const outputs = known ?? (await candidate.runPart(name, inputs));
    values.push(...compareKinds(getDefined(reference.outputs[name], name), outputs, { splitKinds, shapes }));
  }
  return new Map(values);
}

/** Compares outputs, then the kinds of numbers in them. @throws as compareValues; DetectionError `decoder-shape`. */
export function compareKinds(
  reference: PartValuesByName,
  candidate: PartValuesByName,
  { splitKinds, shapes }: CompareOptions,
): ValueComparisons {
  const behind = Object.fromEntries(Object.entries(reference).filter(([name]) => shapes.mayDiffer.has(name)));
  const kinds = { ...shapes, mayDiffer: new Set(Object.keys(splitKinds(behind))) };
  const outputs = compareValues(reference, candidate, shapes);
  return new Map([...outputs, ...compareValues(splitKinds(reference), splitKinds(candidate), kinds)]);
}

/** Equality bit for bit. */
function sameValues(some: PartValuesByName, others: PartValuesByName): boolean {
  return Object.entries(some).every(([name, { dims, data }]) => {
    const other = others[name];
    return other !== undefined && sameShape(dims, other.dims) && bytesOf(data).equals(bytesOf(other.data));
  });
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/**
 * Compares every value of `reference` with the candidate's value of the same name.
 * @throws DetectionError `part-values` where it is missing or has another shape, unless that may differ.
 */
export function compareValues(reference: PartValuesByName, candidate: PartValuesByName, shapes?: OpenShapes): ValueComparisons {
  return new Map(
    Object.entries(reference).flatMap(([name, tensor]) => {
      const other = candidate[name];
      if (other !== undefined && sameShape(other.dims, tensor.dims)) return [[name, compareArrays(tensor.data, other.data)] as const];
      const found = `${formatShape(tensor.dims)} in the reference, but ${other === undefined ? 'missing' : formatShape(other.dims)} in the candidate`;
      if (other === undefined || shapes?.mayDiffer.has(name) !== true)
        throw new DetectionError('part-values', `value "${name}" is ${found}`);
      if (!shapes.differing.has(name)) shapes.differing.set(name, found);
      return [];
    }),
  );
}
