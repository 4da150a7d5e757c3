/** Runs the parts of a partition one after the other, and looks for a cycle and for a way out and back in. */
import type { Model } from '../../src/onnx/ir/model.js';
import { encodeModel } from '../../src/onnx/serde/encode-model.js';
import { openSession, type SessionOptions } from '../../src/runtime/session/session.js';
import type { CompiledModel } from '../../src/target/compile-model.js';
import type { UnitGraph } from '../../src/target/units/node-units.js';
import { encodeRawTensor } from '../../src/tensor/raw-tensor.js';
import type { Tensor } from '../../src/tensor/tensor.js';

export type Tensors = Readonly<Record<string, Tensor>>;

export async function runWhole(model: Model, feeds: Tensors, optimization: SessionOptions['optimization']): Promise<Tensors> {
  const session = await openSession(encodeModel(model), { optimization });
  try {
    return await session.run(feeds);
  } finally {
    await session.close();
  }
}

/** Values by name: those of the feeds, and what each part adds to them. */
export async function runParts(parts: readonly Model[], feeds: Tensors, optimization: SessionOptions['optimization']): Promise<Tensors> {
  let known: Tensors = feeds;
  for (const part of parts) {
    const names = part.graph.inputs.map(id => part.graph.values.get(id)?.name ?? '');
    const missing = names.filter(name => known[name] === undefined);
    if (missing.length > 0) throw new Error(`a part needs ${missing.join(', ')}, which no part before it gives`);
    const given = Object.fromEntries(names.flatMap(name => (known[name] === undefined ? [] : [[name, known[name]] as const])));
    known = { ...known, ...(await runWhole(part, given, optimization)) };
  }
  return known;
}

/** The names of `whole` whose bits differ in `parts`, or that it lacks. */
export function differingOutputs(whole: Tensors, parts: Tensors): string[] {
  return Object.entries(whole).flatMap(([name, tensor]) => {
    const other = parts[name];
    const same = other !== undefined && other.dtype === tensor.dtype && bytesOf(tensor).equals(bytesOf(other));
    return same ? [] : [name];
  });
}

function bytesOf(tensor: Tensor): Buffer {
  return tensor.dtype === 'string' ? Buffer.from(JSON.stringify(tensor.data)) : Buffer.from(encodeRawTensor(tensor).bytes);
}

/** What is wrong with a partition of `graph`; by definition, not as the product computes it. */
export function findPartitionProblems(
  { units, after }: Pick<UnitGraph, 'after'> & { units: readonly unknown[] },
  partOf: readonly number[],
): string[] {
  const problems: string[] = [];
  if (partOf.length !== units.length || partOf.some(part => !(part >= 0))) problems.push('a unit is in no part');
  // Parts run in the order of their numbers: no unit may read a later part.
  for (const [unit, readers] of after.entries()) {
    for (const reader of readers)
      if ((partOf[reader] ?? -1) < (partOf[unit] ?? 0)) problems.push(`part ${partOf[reader]} reads the later ${partOf[unit]}`);
  }
  for (const start of after.keys()) {
    // Walk only outside of the part; whoever comes back in has made it concave.
    const home = partOf[start];
    const seen = new Set<number>();
    const open = (after[start] ?? []).filter(unit => partOf[unit] !== home);
    for (let unit = open.pop(); unit !== undefined; unit = open.pop()) {
      if (seen.has(unit)) continue;
      seen.add(unit);
      if (partOf[unit] === home) problems.push(`unit ${start} leaves part ${home} and comes back at ${unit}`);
      else open.push(...(after[unit] ?? []));
    }
  }
  return problems;
}

/** The same of a compiled model, from its report and the nodes of its parts. */
export function findReportProblems({ report, parts }: CompiledModel): string[] {
  const problems: string[] = [];
  const placed = report.parts.flatMap(part => part.units).sort((a, b) => a - b);
  if (placed.some((unit, index) => unit !== index) || placed.length !== report.units.length)
    problems.push('units are not in one part each');
  const nodes = parts.flatMap(part =>
    [...part.graph.nodes.values()].map(node => part.graph.values.get(node.outputs[0] ?? (-1 as never))?.name ?? ''),
  );
  const reported = report.units.flatMap(unit => unit.nodes);
  if (new Set(nodes).size !== nodes.length) problems.push('a node is in two parts');
  if (nodes.length !== report.counts.nodes || reported.length !== nodes.length)
    problems.push('nodes of the parts are not those of the report');
  for (const part of report.parts) {
    if (part.dependsOn.some(other => other >= part.index)) problems.push(`part ${part.index} depends on a later one`);
    for (const unit of part.units) if (report.units[unit]?.device !== part.device) problems.push(`unit ${unit} is on the other device`);
  }
  const { npuNodes, cpuNodes, edgeNodes } = report.counts;
  if (npuNodes + cpuNodes + edgeNodes !== report.counts.nodes) problems.push('counts do not add up');
  return problems;
}
