/** The predicted device of each node, in the form of the vendor's assignment report, with the reasons added. */
import type { Json, JsonObject } from '../../base/json.js';
import { getValue } from '../../onnx/ir/edit.js';
import type { Model, Node, ValueId } from '../../onnx/ir/model.js';
import type { ModelReport, UnitReport } from '../report/compile-report.js';
import { type NodeReasons, REASONS_MEMBER } from '../report/node-reasons.js';

/** Device names of the vendor's execution provider. VITIS_EP_CPU: nodes at the edges of the model that it runs on the host. */
type ReportDevice = 'CPU' | 'NPU' | 'VITIS_EP_CPU';

/** Stands for an omitted optional input. */
const ABSENT = 'VAIP_NOT_EXISTS';

/** @param parts models of the report's parts, in the same order. */
export function predictAssignment(report: ModelReport, parts: readonly Model[]): JsonObject {
  const deviceOf = devicesByOutput(report.units);
  const nodes = parts.flatMap(model => [...model.graph.nodes.values()].map(node => describeNode(model, node, deviceOf)));
  const onNpu = report.parts.filter(part => part.device === 'npu').length;
  return {
    deviceStat: [
      describeDevice('all', nodes),
      ...(['CPU', 'NPU', 'VITIS_EP_CPU'] as const).map(device =>
        describeDevice(
          device,
          nodes.filter(node => node.device === device),
        ),
      ),
    ],
    nodeStat: nodes,
    shapeInfo: describeShapes(parts),
    subgraphStat: [
      { device: 'CPU', count: report.parts.length - onNpu },
      { device: 'NPU', count: onNpu },
      { device: 'Actually running on NPU', count: onNpu },
    ],
    'x-predicted': true,
    [REASONS_MEMBER]: report.units.flatMap(describeReasons),
  };
}

function devicesByOutput(units: readonly UnitReport[]): ReadonlyMap<string, ReportDevice> {
  const devices = new Map<string, ReportDevice>();
  for (const { nodes, device, edge } of units) {
    for (const output of nodes) devices.set(output, device === 'cpu' ? 'CPU' : edge ? 'VITIS_EP_CPU' : 'NPU');
  }
  return devices;
}

type NodeStat = {
  readonly output: readonly string[];
  readonly input: readonly string[];
  readonly opDomain: string;
  readonly opType: string;
  readonly comment: string;
  readonly device: ReportDevice;
};

function describeNode({ graph }: Model, node: Node, devices: ReadonlyMap<string, ReportDevice>): NodeStat {
  const nameOf = (id: ValueId | undefined): string => (id === undefined ? ABSENT : getValue(graph, id).name);
  const output = node.outputs.map(nameOf);
  return {
    output,
    input: node.inputs.map(nameOf),
    opDomain: node.domain,
    opType: node.opType,
    comment: node.name,
    device: devices.get(output.find(name => name !== ABSENT) ?? '') ?? 'CPU',
  };
}

function describeDevice(name: 'all' | ReportDevice, nodes: readonly NodeStat[]): JsonObject {
  const types = [...new Set(nodes.map(({ opDomain, opType }) => `${opDomain}::${opType}`))].sort();
  return { name, nodeNum: nodes.length, supportedOpType: types };
}

function describeShapes(parts: readonly Model[]): Json {
  const shapes = new Map<string, JsonObject>();
  for (const { graph } of parts) {
    for (const { name, type } of graph.values.values()) {
      const dims = type?.kind === 'tensor' ? type.dims : undefined;
      const shape = dims?.map(dim => (typeof dim === 'number' ? dim : -1)) ?? [];
      shapes.set(name, { name, shape, isScalar: dims?.length === 0, isUnknown: dims === undefined });
    }
  }
  return [...shapes.values()];
}

function describeReasons({ nodes, name, opType, device, findings, demoted }: UnitReport): readonly NodeReasons[] {
  if (findings.length === 0 && demoted === undefined) return [];
  return [{ nodes, name, opType, device, findings, ...(demoted === undefined ? {} : { demoted }) }];
}
