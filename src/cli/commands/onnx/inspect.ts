/** `tanren onnx inspect FILE`: describes a model: inputs, outputs, opsets, operators, weights, and the parts that are not interpreted. */

import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { countOf } from '../../../base/text/count-of.js';
import { formatBytes } from '../../../base/text/format.js';
import { countOperators, listConstants } from '../../../onnx/analysis/model-stats.js';
import type { Model, ValueId } from '../../../onnx/ir/model.js';
import { decodeMessage } from '../../../onnx/proto/codec/decode-message.js';
import { WHOLE_SCHEMA } from '../../../onnx/proto/codec/schema.js';
import { byteLengthOf, findFileRange } from '../../../onnx/serde/file-constant.js';
import { readModel } from '../../../onnx/serde/model-file.js';
import { describeType } from '../../../onnx/text/describe-type.js';
import { countElements } from '../../../tensor/shape.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { padEnd, widest } from '../../terminal/display-width.js';
import { type OnnxOptions, runOnnx } from './command.js';

export function runOnnxInspect(path: string, options: OnnxOptions): Promise<ExitCode> {
  return runOnnx(options, async console => {
    const found = describeModel(await readModel(path), (await stat(path)).size);
    if (options.json) console.json({ file: basename(path), ...found });
    else for (const line of formatInspection(basename(path), found)) console.line(line);
    return EXIT.built;
  });
}

interface End {
  readonly name: string;
  readonly type: string;
}

interface Inspection {
  readonly sizeBytes: number;
  readonly irVersion: number;
  readonly opsets: Readonly<Record<string, number>>;
  readonly producer: string;
  readonly graph: string;
  readonly inputs: readonly End[];
  readonly outputs: readonly End[];
  readonly nodes: number;
  readonly operators: Readonly<Record<string, number>>;
  readonly constants: number;
  readonly parameters: number;
  readonly parameterBytes: number;
  /** Files beside the model that hold weights. */
  readonly externalFiles: readonly string[];
  readonly functions: number;
  readonly trainingInfo: number;
  readonly metadata: Readonly<Record<string, string>>;
}

function describeModel(model: Model, sizeBytes: number): Inspection {
  const { graph } = model;
  const constants = [...new Set(listConstants(graph))];
  const end = (id: ValueId): End => ({ name: graph.values.get(id)?.name ?? '', type: describeType(graph.values.get(id)?.type) });
  const { functions = [], trainingInfo = [] } = Buffer.concat(model.unknown).byteLength === 0 ? {} : decodeRest(model);
  const files = constants.map(constant => findFileRange(constant)?.path).filter(path => path !== undefined);
  return {
    sizeBytes,
    irVersion: model.irVersion,
    opsets: Object.fromEntries(model.opsets),
    producer: [model.producerName, model.producerVersion].filter(Boolean).join(' '),
    graph: graph.name,
    inputs: graph.inputs.filter(id => graph.values.get(id)?.constant === undefined).map(end),
    outputs: graph.outputs.map(end),
    nodes: graph.nodes.size,
    operators: countOperators(graph.nodes.values()),
    constants: constants.length,
    parameters: constants.reduce((sum, { dims }) => sum + countElements(dims), 0),
    parameterBytes: constants.reduce((sum, constant) => sum + ('bytes' in constant ? byteLengthOf(constant) : 0), 0),
    externalFiles: [...new Set(files.map(path => basename(path)))].sort(),
    functions: functions.length,
    trainingInfo: trainingInfo.length,
    metadata: Object.fromEntries(model.metadata),
  };
}

function decodeRest({ unknown }: Model) {
  return decodeMessage(WHOLE_SCHEMA, 'ModelProto', Uint8Array.from(Buffer.concat(unknown)));
}

function formatInspection(file: string, found: Inspection): readonly string[] {
  const opsets = Object.entries(found.opsets).map(([domain, version]) => `${domain === '' ? 'opset' : domain} ${version}`);
  const operators = Object.entries(found.operators).map(([operator, count]) => `${count} ${operator}`);
  const weights = `${countOf(found.constants, 'constant')}, ${countOf(found.parameters, 'parameter')}, ${formatBytes(found.parameterBytes)}`;
  const outside = found.externalFiles.length === 0 ? '' : `, in ${found.externalFiles.join(', ')}`;
  const facts: [string, string][] = [
    ...found.inputs.map(({ name, type }): [string, string] => ['input', `${name}  ${type}`]),
    ...found.outputs.map(({ name, type }): [string, string] => ['output', `${name}  ${type}`]),
    ['nodes', `${found.nodes}: ${operators.join(', ')}`],
    ['weights', `${weights}${outside}`],
    ...(found.functions === 0 ? [] : [['functions', `${found.functions}, kept and not examined`] as [string, string]]),
    ...(found.trainingInfo === 0 ? [] : [['training', `${found.trainingInfo}, kept and not examined`] as [string, string]]),
    ...Object.entries(found.metadata).map(([key, value]): [string, string] => [
      'metadata',
      `${key}: ${shorten(value.split('\n')[0] ?? '')}`,
    ]),
  ];
  const width = widest(facts.map(([label]) => label));
  const heading = [`IR version ${found.irVersion}`, ...opsets, ...(found.producer === '' ? [] : [`by ${found.producer}`])];
  return [
    `${file}: ${formatBytes(found.sizeBytes)}, ${heading.join(', ')}`,
    ...facts.map(([label, text]) => `  ${padEnd(label, width)}  ${text}`),
  ];
}

/** Some exporters keep whole documents in the metadata; `--json` has them. */
const MOST_CHARACTERS = 200;

function shorten(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}… (${text.length.toLocaleString('en-US')} characters)` : text;
}
