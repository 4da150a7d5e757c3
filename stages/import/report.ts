/** The report of `import`: pinned, cut, converted and folded nodes, the result, and the proof. */
import type { Json, JsonObject } from '../../src/base/json.js';
import type { ImportedModel } from '../../src/onnx/import-model.js';
import { getValue, subgraphsOf } from '../../src/onnx/ir/edit.js';
import type { Graph, Model, Node, ValueId } from '../../src/onnx/ir/model.js';
import { describeNode, formatDims } from '../../src/onnx/shape-inference/context/node-context.js';
import type { ImportClaim, ImportProof } from './proof.js';

/** The report without the proof. */
export function describeImport(original: Model, imported: ImportedModel): JsonObject {
  const { model, freed, pinned, batched, widened, conversion, steps } = imported;
  return {
    producer: [original.producerName, original.producerVersion].filter(part => part !== '').join(' '),
    inputs: describeEnds(model.graph, model.graph.inputs),
    outputs: describeEnds(model.graph, model.graph.outputs),
    pinned: pinned.map(record => ({ ...record })),
    batched: [...batched],
    ...(widened === 0 ? {} : { widened }),
    removed: describeRemoved(original.graph, imported.unchanged.graph),
    converted: { from: conversion.from, to: conversion.to, steps: conversion.steps.map(step => ({ ...step })) },
    freedInitializers: [...freed],
    folded: steps.map(step => ({ ...step, changed: [...step.changed] })),
    before: countNodes(original.graph),
    after: countNodes(model.graph),
    withSubgraphs: [...model.graph.nodes.values()].filter(hasSubgraph).map(node => describeNode(node, model.graph)),
    otherDomains: [...listOtherDomains(model)],
  };
}

/** The field `proof` of the report. */
export function describeProof(
  { wanted, samples, reason, spread, boundedLoops, outputs }: ImportProof,
  { original }: Pick<ImportClaim, 'original'>,
): JsonObject {
  return {
    class: wanted.kind,
    ...(original === 'file' ? {} : { original }),
    ...(wanted.kind === 'exact' ? {} : { tolerance: wanted.tolerance }),
    samples,
    ...(reason === undefined ? {} : { reason }),
    spread: { ...spread },
    boundedLoops,
    outputs: Object.fromEntries(Object.entries(outputs).map(([name, figures]) => [name, { ...figures }])),
  };
}

/** Operators of the main graph outside the ONNX domain, each once. Contributed quantizers are supported and not listed. */
export function listOtherDomains({ graph }: Model): readonly string[] {
  const others = [...graph.nodes.values()].filter(node => node.domain !== '' && !/^(Dequantize|Quantize)Linear$/.test(node.opType));
  return [...new Set(others.map(node => `${node.domain}.${node.opType}`))];
}

const hasSubgraph = (node: Node): boolean => subgraphsOf(node).length > 0;

function describeEnds(graph: Graph, ids: readonly ValueId[]): Json[] {
  return ids.map(id => {
    const { name, type } = getValue(graph, id);
    return { name, type: type?.kind === 'tensor' ? `${type.dtype ?? '?'} ${formatDims(type.dims)}` : (type?.kind ?? '?') };
  });
}

/** Inputs, outputs and nodes removed by the cut. */
function describeRemoved(before: Graph, after: Graph): JsonObject {
  const namesOf = (graph: Graph, ids: readonly ValueId[]): string[] =>
    ids.flatMap(id => (getValue(graph, id).constant === undefined ? [getValue(graph, id).name] : []));
  const without = (all: readonly string[], kept: readonly string[]): string[] => all.filter(name => !kept.includes(name));
  return {
    inputs: without(namesOf(before, before.inputs), namesOf(after, after.inputs)),
    outputs: without(namesOf(before, before.outputs), namesOf(after, after.outputs)),
    nodes: [...before.nodes.values()].filter(({ id }) => !after.nodes.has(id)).length,
  };
}

function countNodes({ nodes }: Graph): JsonObject {
  const counts: Record<string, number> = {};
  for (const { opType } of nodes.values()) counts[opType] = (counts[opType] ?? 0) + 1;
  return { nodes: nodes.size, operators: Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1))) };
}
