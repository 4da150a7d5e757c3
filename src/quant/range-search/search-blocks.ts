/** Divides a network into blocks: few layers that follow one another, whose ranges are searched together on what the block computes. */
import { indexUses } from '../../onnx/ir/edit.js';
import type { ValueId } from '../../onnx/ir/model.js';
import type { Step, SteppedModels } from '../sensitivity/find-steps.js';

export interface SearchBlock {
  /** In topological order. */
  readonly steps: readonly Step[];
  /** The steps whose values later blocks read, or that are outputs of the network. In topological order, never empty. */
  readonly ends: readonly Step[];
}

const LAYERS: ReadonlySet<string> = new Set(['Conv', 'ConvTranspose', 'Gemm', 'MatMul']);

/**
 * A block ends where nothing but its last value is read behind it, such as behind the Add of a residual block;
 * at the latest before it would have more than `most` layers (Conv, ConvTranspose, Gemm, MatMul).
 */
export function cutSearchBlocks({ float, steps }: SteppedModels, most: number): readonly SearchBlock[] {
  const list = [...steps.values()];
  const lastRead = indexLastReads(list);
  const uses = indexUses(float.graph);
  const isRead = (id: ValueId, after: number): boolean => (lastRead.get(id) ?? -1) > after;
  const isOutput = (id: ValueId): boolean => float.graph.outputs.includes(id) || (uses.get(id) ?? []).some(({ index }) => index < 0);
  const blocks: SearchBlock[] = [];
  let open: Step[] = [];
  const close = (after: number): void => {
    const ends = open.filter(({ value: { id }, nodes }) => nodes.length > 0 && (isRead(id, after) || isOutput(id)));
    if (ends.length === 0) return;
    blocks.push({ steps: open, ends });
    open = [];
  };
  for (const [index, step] of list.entries()) {
    if (countLayers(open) > 0 && countLayers([...open, step]) > most) close(index - 1);
    open.push(step);
    const touched = new Set(open.flatMap(({ value, reads }) => [value.id, ...reads]));
    touched.delete(step.value.id);
    if (countLayers(open) > 0 && ![...touched].some(id => isRead(id, index))) close(index);
  }
  close(list.length - 1);
  return blocks;
}

function countLayers(steps: readonly Step[]): number {
  return steps.reduce((sum, { nodes }) => sum + nodes.filter(({ opType }) => LAYERS.has(opType)).length, 0);
}

/** Index of the last step that reads each value. */
function indexLastReads(steps: readonly Step[]): ReadonlyMap<ValueId, number> {
  return new Map(steps.flatMap(({ reads }, index) => reads.map(id => [id, index] as const)));
}
