/**
 * The graph of trivial stages that is measured, and its pipeline file.
 * The graph has layers. Each stage joins two outputs of the layer before.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TrivialStage {
  readonly id: string;
  /** Ids of the stages whose outputs it reads. The first layer reads only the source. */
  readonly reads: readonly string[];
}

export interface TrivialGraph {
  readonly layers: number;
  readonly width: number;
  readonly stages: readonly TrivialStage[];
}

/** @param count total number of stages: 10 layers for up to a hundred, otherwise 20. */
export function makeTrivialGraph(count: number): TrivialGraph {
  const layers = count <= 100 ? 10 : 20;
  const width = count / layers;
  const stages = Array.from({ length: count }, (_, index) => {
    const [layer, item] = [Math.floor(index / width), index % width];
    const reads = layer === 0 ? [] : [nameOf(layer - 1, item), nameOf(layer - 1, (item + 1) % width)];
    return { id: nameOf(layer, item), reads };
  });
  return { layers, width, stages };
}

function nameOf(layer: number, item: number): string {
  return `l${layer}-i${item}`;
}

/** A new folder with a source file, for any tool. */
export function makeTrivialFolder(name: string, parent = tmpdir()): { readonly folder: string; remove(): void } {
  const folder = realpathSync(mkdtempSync(join(parent, `tanren-bench-${name}-`)));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'source.txt'), 'a line\n');
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** One `command` stage per graph stage, one group per layer. Every stage writes its own name, so that no two have the same key. */
export function writeTrivialPipeline(folder: string, { layers, width }: TrivialGraph): void {
  const items = Object.fromEntries(Array.from({ length: width }, (_, item) => [`i${item}`, `i${(item + 1) % width}`]));
  const groups = Array.from({ length: layers }, (_, layer) => [`l${layer}`, layer === 0 ? firstLayer(items) : laterLayer(layer, items)]);
  // JSON is valid YAML.
  const pipeline = { version: 1, sources: { text: 'source.txt' }, stages: Object.fromEntries(groups) };
  writeFileSync(join(folder, 'pipeline.yaml'), JSON.stringify(pipeline, null, 1));
}

function firstLayer(foreach: object): object {
  const command = { shell: 'sh', run: [`echo l0-\${key} > out; test -s source`], inputs: { source: 'source' }, outputs: { out: 'out' } };
  return { foreach, uses: 'command', with: command, inputs: { source: `\${sources.text}` } };
}

function laterLayer(layer: number, foreach: object): object {
  const run = [`echo l${layer}-\${key} > out; test -s left -a -s right`];
  const command = { shell: 'sh', run, inputs: { left: 'left', right: 'right' }, outputs: { out: 'out' } };
  const inputs = { left: `l${layer - 1}@\${key}.out`, right: `l${layer - 1}@\${item}.out` };
  return { foreach, uses: 'command', with: command, inputs };
}

/** One `command` stage that reads each of `count` files through a separate port. */
export function writeManyPorts(folder: string, count: number): void {
  const names = Array.from({ length: count }, (_, index) => `p${index}`);
  mkdirSync(join(folder, 'in'));
  for (const name of names) writeFileSync(join(folder, 'in', name), `${name}\n`);
  const each = (value: (name: string) => string): object => Object.fromEntries(names.map(name => [name, value(name)]));
  const command = { shell: 'sh', run: ['ls | wc -l > out'], inputs: each(name => name), outputs: { out: 'out' } };
  const stage = { uses: 'command', with: command, inputs: each(name => `\${sources.${name}}`) };
  writeFileSync(
    join(folder, 'pipeline.yaml'),
    JSON.stringify({ version: 1, sources: each(name => `in/${name}`), stages: { stage } }, null, 1),
  );
}
