/** Compiles one model for a target: judges its units, partitions it, extracts the parts as models, and reports all of it. */
import { digestModelContent } from '../onnx/analysis/content-digest.js';
import { getValue } from '../onnx/ir/edit.js';
import type { Model, ValueId } from '../onnx/ir/model.js';
import type { Evaluate } from '../onnx/passes/evaluate.js';
import { estimateBatches, mean } from './estimate/batch-estimate.js';
import { basisOf, estimateCalls, estimateUnit, scaleEstimate, sumEstimates } from './estimate/estimate.js';
import { estimateCall, estimateHostCall, listCallTimes, listHostTimes, roofOf } from './estimate/image-estimate.js';
import type { PlacedWork } from './estimate/unit-time.js';
import { allowedBatches, checkBatch } from './legality/batch-rule.js';
import { checkOutputs } from './legality/defects.js';
import { judgeUnits, modeOf, type UnitVerdict } from './legality/judge-units.js';
import { checkForms } from './legality/observed-forms.js';
import { planMemory } from './memory/part-memory.js';
import { extractPart, findPartEnds, type PartEnds } from './partition/extract-parts.js';
import { checkGraph } from './partition/graph-rules.js';
import { type Partition, type PlannedPart, partitionUnits } from './partition/partition.js';
import type { Target } from './profile/choose-target.js';
import type {
  BatchEstimate,
  Device,
  ImageEstimate,
  LatencyEstimate,
  ModelReport,
  PartReport,
  TensorReport,
  UnitReport,
} from './report/compile-report.js';
import { countUnits } from './report/count-units.js';
import { TargetError } from './report/target-error.js';
import { helpWithFreeSizes, listFreeSizes } from './units/free-sizes.js';
import { findNodeUnits, type NodeUnit, type UnitGraph } from './units/node-units.js';
import { prepareModel } from './units/prepare-model.js';
import { findQParams, tensorOf } from './units/unit-facts.js';
import { bytesOf, measureUnit, quantizeWork, type UnitWork } from './units/unit-work.js';

export interface CompileOptions {
  readonly evaluate: Evaluate;
  /** The device of units with undocumented operators. */
  readonly undocumented: Device;
  /** The device of models with a larger batch than the target takes, if only an assumption refuses it. Default: cpu. */
  readonly largerBatch?: Device;
  /** 'quantized': float models and unknown sizes are errors. 'any': they are judged by what is known. */
  readonly accept: 'quantized' | 'any';
  /** 'cpu': the whole model runs on the CPU, whatever the target could run of it. Default: npu. */
  readonly place?: Device;
  /** For a model that runs once per RoI. */
  readonly batches?: { readonly rois: BatchEstimate['rois']; readonly sizes: readonly number[] };
  /** For a model whose call serves `perCall` RoIs, as tiles of one canvas. One call per image where the RoI counts are unknown. */
  readonly tiles?: { readonly perCall: number; readonly counts?: readonly number[] };
}

export interface CompiledModel {
  readonly report: ModelReport;
  /** In the order of the report's parts. Values with equal names are one tensor. */
  readonly parts: readonly Model[];
  /** 'free': sizes depend on the data, or are not known. */
  readonly sizes: 'static' | 'free';
}

/**
 * Compiles `model` without changing it. Running the parts in sequence gives the bits of the whole model, in ONNX Runtime up to its basic level.
 * @throws TargetError `model-not-quantized`, `dynamic-shapes`, `wrong-values` if `accept` is 'quantized'; OnnxError of shape inference.
 */
export async function compileModel(name: string, model: Model, target: Target, options: CompileOptions): Promise<CompiledModel> {
  const prepared = await prepareModel(model, options.evaluate);
  const isOnCpu = options.place === 'cpu';
  if (options.accept === 'quantized') checkAccepted(name, prepared, target, options.place ?? 'npu');
  const graph = findNodeUnits(prepared);
  const works = isOnCpu ? graph.units.map(unit => measureUnit(prepared, unit)) : measureUnits(graph, target);
  const verdicts = isOnCpu ? graph.units.map(() => UNJUDGED) : judgeUnits(graph, target, options);
  const whole = isOnCpu ? [] : [...checkBatch(prepared, target, options.largerBatch ?? 'cpu'), ...checkForms(graph, target, verdicts)];
  if (options.accept === 'quantized') checkValues(name, verdicts);
  const reason = isOnCpu ? 'the pipeline places its model on the CPU' : whole.find(({ severity }) => severity !== 'warning')?.message;
  const refused = reason === undefined ? undefined : ({ rule: 'whole-model', reason } as const);
  const partition = partitionUnits(graph, verdicts, target, { works, refused });
  const ends = findPartEnds(graph, partition.parts);
  const facts: Facts = { graph, works, verdicts, partition, ends, target };

  const callTimes = isOnCpu ? listHostTimes(target, works) : listCallTimes(target, placedUnits(facts));
  const units = graph.units.map(unit => reportUnit(facts, unit, callTimes[unit.id] ?? 0));
  const parts = partition.parts.map((_, index) => reportPart(facts, index));
  const findings = isOnCpu ? [] : [...checkGraph(facts), ...whole, ...checkOutputs(prepared, target)];
  const report: ModelReport = {
    name,
    digest: digestModelContent(model),
    legal: [...findings, ...verdicts.flatMap(verdict => verdict.findings)].every(finding => finding.severity === 'warning'),
    counts: countUnits(units, parts),
    findings,
    units,
    parts,
    estimate: {
      npu: sumEstimates(parts.flatMap(part => part.estimate ?? [])),
      image: imageOf(facts, options),
      basis: basisOf(target),
      ...(isOnCpu ? {} : { roof: roofOf(target) }),
      ...(options.batches === undefined || isOnCpu ? {} : { batches: batchesOf(facts, options.batches, options.largerBatch ?? 'cpu') }),
    },
    ...(isOnCpu ? { place: 'cpu' } : {}),
  };
  const sizes = listFreeSizes(prepared).length === 0 ? 'static' : 'free';
  return { report, parts: ends.map(end => extractPart(prepared, end)), sizes };
}

/** The work of a float model counts with the bytes that it has once it is quantized, unless the data type takes float models. */
function measureUnits({ model, units }: UnitGraph, { dtype }: Target): readonly UnitWork[] {
  const works = units.map(unit => measureUnit(model, unit));
  if (dtype.form === 'float' || modeOf(model) !== 'float') return works;
  const sizeOf = (names: readonly string[]): number => (names.some(name => name.endsWith('16')) ? 2 : 1);
  const bytes = { activation: sizeOf(dtype.activations.value), weight: sizeOf(dtype.weights.value) };
  return works.map(work => quantizeWork(work, bytes));
}

/** Of a unit that the params place on the CPU: no limit of the target concerns it. */
const UNJUDGED: UnitVerdict = { findings: [], admitted: true, edge: false };

interface Facts {
  readonly graph: UnitGraph;
  readonly works: readonly UnitWork[];
  readonly verdicts: readonly UnitVerdict[];
  readonly partition: Partition;
  readonly ends: readonly PartEnds[];
  readonly target: Target;
}

function checkAccepted(name: string, model: Model, { identity, dtype }: Target, place: Device): void {
  if (place === 'npu' && dtype.form === 'float' && modeOf(model) === 'quantized') {
    throw new TargetError('model-quantized', `model "${name}" is quantized, but data type ${identity.dtype} takes float models`, {
      help: 'connect the float model, before `quantize`; or choose the data type of the model',
    });
  }
  if (place === 'npu' && dtype.form !== 'float' && modeOf(model) === 'float') {
    throw new TargetError('model-not-quantized', `model "${name}" is not quantized: it has no QuantizeLinear or DequantizeLinear`, {
      help: 'compile the output of a quantize stage, or run the float model on the CPU with `place`; `tanren lint` checks shapes and operators of float models',
    });
  }
  const dynamic = listFreeSizes(model);
  if (dynamic.length === 0) return;
  const shown = `${dynamic.slice(0, 5).join(', ')}${dynamic.length > 5 ? `, and ${dynamic.length - 5} more` : ''}`;
  throw new TargetError('dynamic-shapes', `model "${name}": these sizes are not fixed: ${shown}`, {
    details: dynamic,
    help: helpWithFreeSizes(model),
  });
}

/** A model that a device runs with wrong results must not get a bundle. */
function checkValues(name: string, verdicts: readonly UnitVerdict[]): void {
  const wrong = verdicts.flatMap(({ findings }) => findings.filter(({ severity }) => severity === 'error'));
  const [first] = wrong;
  if (first === undefined) return;
  throw new TargetError('wrong-values', `model "${name}": the device would compute wrong values: ${first.message}`, {
    details: wrong.map(({ message }) => message),
    help: `${first.note ?? first.message} (${first.source.title}, ${first.source.ref}); \`tanren lint\` lists all nodes`,
  });
}

function reportUnit({ graph, works, verdicts, partition, target }: Facts, unit: NodeUnit, callMs: number): UnitReport {
  const { model } = graph;
  const verdict = verdicts[unit.id];
  const work = works[unit.id] ?? measureUnit(model, unit);
  const device = partition.devices[unit.id] ?? 'cpu';
  const demoted = partition.demoted.get(unit.id)?.reason;
  const edge = verdict?.edge === true && device === 'npu';
  const last = unit.quantizers.length > 0 ? unit.quantizers : [unit.activation ?? unit.target];
  return {
    id: unit.id,
    kind: unit.kind,
    opType: unit.target.opType,
    name: unit.target.name || firstOutputName(model, unit.target),
    ...(unit.activation === undefined ? {} : { activation: unit.activation.opType }),
    nodes: unit.nodes.map(node => firstOutputName(model, node)),
    device,
    edge,
    part: partition.partOf[unit.id] ?? 0,
    findings: verdict?.findings ?? [],
    ...(demoted === undefined ? {} : { demoted }),
    outputs: last.flatMap(node => node.outputs).flatMap(id => (id === undefined ? [] : [describeTensor(model, id)])),
    macs: work.macs,
    weightBytes: work.weightBytes,
    inputBytes: work.inputBytes,
    outputBytes: work.outputBytes,
    callMs,
    work: { engine: work.engine, elements: work.elements, ...(work.shape === undefined ? {} : { shape: work.shape }) },
    ...(device === 'npu' && !edge ? { estimate: estimateUnit(target, work) } : {}),
  };
}

function firstOutputName(model: Model, node: NodeUnit['target']): string {
  const id = node.outputs.find(output => output !== undefined);
  return id === undefined ? '' : getValue(model.graph, id).name;
}

function describeTensor(model: Model, id: ValueId): TensorReport {
  const { name, dtype, dims } = tensorOf(model, id);
  const { producer } = getValue(model.graph, id);
  const node = producer === undefined ? undefined : model.graph.nodes.get(producer);
  const qparams = node?.opType === 'QuantizeLinear' ? findQParams(model, node) : undefined;
  const [scale] = qparams?.scales ?? [];
  const [zeroPoint] = qparams?.zeroPoints ?? [];
  const perTensor = qparams?.axis === undefined && scale !== undefined && zeroPoint !== undefined;
  return {
    name,
    dtype: dtype ?? 'unknown',
    dims: (dims ?? []).map(dim => (typeof dim === 'number' ? dim : -1)),
    ...(perTensor ? { scale, zeroPoint } : {}),
  };
}

function reportPart(facts: Facts, index: number): PartReport {
  const { graph, partition, ends, works, target } = facts;
  const part = partition.parts[index] ?? { device: 'cpu', units: [] };
  const end = ends[index] ?? { inputs: [], outputs: [] };
  const own = part.units.flatMap(id => works[id] ?? []);
  const sum = (of: (work: UnitWork) => number): number => own.reduce((total, work) => total + of(work), 0);
  return {
    index,
    name: `${String(index).padStart(2, '0')}.${part.device}`,
    device: part.device,
    units: part.units,
    nodes: part.units.reduce((total, id) => total + (graph.units[id]?.nodes.length ?? 0), 0),
    inputs: end.inputs.map(id => describeTensor(graph.model, id)),
    outputs: end.outputs.map(id => describeTensor(graph.model, id)),
    dependsOn: dependenciesOf(facts, part, index),
    macs: sum(work => work.macs),
    weightBytes: sum(work => work.weightBytes),
    transferBytes: [...end.inputs, ...end.outputs].reduce((total, id) => total + bytesOf(graph.model, id), 0),
    ...(part.device === 'npu' ? { estimate: estimateCalls(target, 1, estimatesOf(facts, part)), ...memoryOf(facts, part) } : {}),
  };
}

function memoryOf({ graph, target, verdicts }: Facts, { units }: PlannedPart): Pick<PartReport, 'memory'> {
  const memory = planMemory(
    graph,
    units.filter(id => verdicts[id]?.edge !== true),
    target,
  );
  return memory === undefined ? {} : { memory };
}

function dependenciesOf({ graph, partition }: Facts, { units }: PlannedPart, index: number): readonly number[] {
  const parts = units.flatMap(id => graph.before[id] ?? []).map(id => partition.partOf[id] ?? 0);
  return [...new Set(parts)].filter(part => part !== index).sort((a, b) => a - b);
}

/** For the units that run on the NPU itself. */
function estimatesOf({ verdicts, works, target }: Facts, { units }: PlannedPart): readonly LatencyEstimate[] {
  return units.flatMap(id => (verdicts[id]?.edge === true ? [] : [works[id] ?? []].flat().map(work => estimateUnit(target, work))));
}

function batchesOf(facts: Facts, { rois, sizes }: NonNullable<CompileOptions['batches']>, largerBatch: Device): BatchEstimate {
  const allowed = allowedBatches(facts.target, sizes, largerBatch);
  return estimateBatches(facts.target, { units: placedUnits(facts), batch: batchOf(facts), rois, sizes: allowed });
}

/** All calls of an image, of which the last costs as much as a full one. */
function imageOf(facts: Facts, { batches, tiles, place }: CompileOptions): ImageEstimate {
  const rows = tiles?.perCall ?? batchOf(facts);
  const counts = tiles === undefined ? batches?.rois.counts : tiles.counts;
  const calls = counts === undefined ? 1 : mean(counts.map(count => Math.ceil(count / rows)));
  const perCall = place === 'cpu' ? estimateHostCall(facts.target, facts.works) : estimateCall(facts.target, placedUnits(facts));
  return { ...(tiles === undefined ? {} : { tiles: tiles.perCall }), calls, perCall, perImage: scaleEstimate(perCall, calls) };
}

function batchOf({ graph }: Facts): number {
  const [input] = graph.model.graph.inputs;
  const first = input === undefined ? undefined : tensorOf(graph.model, input).dims?.[0];
  return typeof first === 'number' && first > 0 ? first : 1;
}

function placedUnits({ partition, verdicts, works }: Facts): readonly PlacedWork[] {
  return works.map((work, id) => {
    const device = partition.devices[id] ?? 'cpu';
    return { work, where: device === 'npu' && verdicts[id]?.edge === true ? 'edge' : device };
  });
}
