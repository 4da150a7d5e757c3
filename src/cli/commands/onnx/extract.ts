/** `tanren onnx extract IN OUT`: extracts the subgraph that computes given outputs from given inputs as a model. */

import { basename } from 'node:path';
import { countOf } from '../../../base/text/count-of.js';
import { getValue } from '../../../onnx/ir/edit.js';
import type { Model } from '../../../onnx/ir/model.js';
import { valuesReadBy } from '../../../onnx/ir/reads.js';
import { inferShapes, writeTypes } from '../../../onnx/shape-inference/infer-shapes.js';
import { extractSubgraph } from '../../../onnx/surgery/extract.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { type OnnxOptions, readSound, runOnnx, type Weights, writeResult } from './command.js';

export interface ExtractOptions extends OnnxOptions {
  /** Names of values. If absent: the model's own inputs, as far as they are needed. */
  readonly inputs?: readonly string[];
  /** If absent: the model's own outputs. */
  readonly outputs?: readonly string[];
  readonly weights: Weights;
}

export function runOnnxExtract(from: string, to: string, options: ExtractOptions): Promise<ExitCode> {
  return runOnnx(options, async console => {
    const model = await readSound(from);
    // New inputs need a type. Types that the file lacks are inferred.
    writeTypes(model, inferShapes(model));
    const part = extractPart(model, options);
    await writeResult(to, part, options.weights);
    const names = (ids: Model['graph']['inputs']): string[] => ids.map(id => getValue(part.graph, id).name);
    const [inputs, outputs, nodes] = [names(part.graph.inputs), names(part.graph.outputs), part.graph.nodes.size];
    if (options.json) console.json({ file: basename(to), inputs, outputs, nodes });
    else
      console.line(
        `${basename(to)}: ${countOf(nodes, 'node')} of ${model.graph.nodes.size}, from ${inputs.join(', ')} to ${outputs.join(', ')}`,
      );
    return EXIT.built;
  });
}

function extractPart(model: Model, { inputs, outputs }: ExtractOptions): Model {
  const { graph } = model;
  const nameOf = (id: Model['graph']['inputs'][number]): string => getValue(graph, id).name;
  const part = extractSubgraph(model, { inputs: inputs ?? graph.inputs.map(nameOf), outputs: outputs ?? graph.outputs.map(nameOf) });
  if (inputs !== undefined) return part;
  const read = new Set([...part.graph.nodes.values()].flatMap(node => [...valuesReadBy(node)]));
  part.graph.inputs = part.graph.inputs.filter(id => read.has(id) || part.graph.outputs.includes(id));
  for (const id of graph.inputs) if (!part.graph.inputs.includes(id)) part.graph.values.delete(id);
  return part;
}
