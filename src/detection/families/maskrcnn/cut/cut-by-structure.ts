/** Cuts a whole Mask R-CNN that another tool exported into its parts and, on request, the CPU subgraphs around them. */
import { getValue } from '../../../../onnx/ir/edit.js';
import type { CutByStructure, ExtractedSubgraph } from '../../../detector/exported-family.js';
import { parseDetectorConfig } from '../config.js';
import { MASKRCNN_PARTS, MASKRCNN_SUBGRAPHS } from '../part-names.js';
import { extractCpuSubgraphs } from './extract-cpu-subgraphs.js';
import { extractParts } from './extract-parts.js';

/** @throws DetectionError `bad-config`, `maskrcnn-structure`, `config-mismatch`; OnnxError `cut-open`. */
export const cutMaskRcnn: CutByStructure = (whole, { config, fit, cpuSubgraphs }) => {
  const { parts, recipe, places } = extractParts(whole, parseDetectorConfig(config, undefined).config, fit);
  const subgraphs = new Map<string, ExtractedSubgraph>();
  for (const name of MASKRCNN_PARTS) subgraphs.set(name, { name, values: recipe.parts[name], model: parts[name] });
  if (cpuSubgraphs === 'extract')
    for (const [name, subgraph] of Object.entries(extractCpuSubgraphs(whole, recipe, places))) subgraphs.set(name, { name, ...subgraph });
  return {
    recipe,
    subgraphs: MASKRCNN_SUBGRAPHS.flatMap(name => subgraphs.get(name) ?? []),
    found: Object.fromEntries([...places].map(([name, id]) => [name, getValue(whole.graph, id).name])),
  };
};
