/** Which room may import which? The table of docs/architecture.md, as data, and a check of a graph against it. */
import type { ImportGraph } from './import-graph.js';

const LIBRARIES = ['detection', 'target', 'quant', 'runtime', 'onnx', 'tensor', 'base'] as const;

/** Room → rooms that its files may import besides their own. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  base: [],
  tensor: ['base'],
  onnx: ['tensor', 'base'],
  runtime: ['onnx', 'tensor', 'base'],
  quant: ['runtime', 'onnx', 'tensor', 'base'],
  target: ['quant', 'runtime', 'onnx', 'tensor', 'base'],
  detection: ['quant', 'runtime', 'onnx', 'tensor', 'base'],
  stage: ['base'],
  engine: ['stage', 'base'],
  report: ['base'],
  stages: ['stage', 'report', ...LIBRARIES],
  cli: ['engine', 'stage', 'report', 'stages', ...LIBRARIES],
};

/** What breaks the layering, one sentence each. */
export function checkLayering(graph: ImportGraph): string[] {
  const problems: string[] = [];
  for (const [file, imports] of graph) {
    const room = roomOf(file);
    if (room === undefined) continue;
    if (/\/index\.ts$/.test(file)) problems.push(`${file}: no index files; import from the file that defines the thing`);
    for (const imported of imports) {
      const other = roomOf(imported);
      if (other === undefined) continue;
      if (other !== room && !(ALLOWED[room] ?? []).includes(other))
        problems.push(`${file} imports ${imported}: ${room} may not know ${other}`);
      if (room === 'stages' && other === 'stages' && pluginOf(file) !== pluginOf(imported) && pluginOf(file) !== undefined) {
        problems.push(`${file} imports ${imported}: a plugin may not know another plugin`);
      }
    }
  }
  return problems;
}

/** "src/onnx/check.ts" → "onnx", "stages/split/run.ts" → "stages"; undefined for packages and other folders. */
function roomOf(path: string): string | undefined {
  if (path.startsWith('stages/')) return 'stages';
  return /^src\/([^/]+)\//.exec(path)?.[1];
}

/** "stages/split/run.ts" → "split"; undefined for stages/registry.ts. */
function pluginOf(path: string): string | undefined {
  return /^stages\/([^/]+)\//.exec(path)?.[1];
}
